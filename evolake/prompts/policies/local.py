"""The policy whose weights learn: a base model in memory, a LoRA adapter on all its linear layers, and Adam.

It runs on a GPU where torch sees one, else on the CPU; on the CPU, the same seed and number of threads give
the same bytes. Samples are drawn from the model's own distribution (no top-k, no top-p, no penalty) at the
recipe's temperature, at which the trainer takes its log probabilities too. Only an evaluation may draw
otherwise (`Decoding`).

In bfloat16 the base model and the cache of what it read take half the memory, and logits are bfloat16, in
sampling and in training. The adapter, its gradients and Adam's moments are float32 all the same, and so is
what is computed of logits: softmax, log probabilities, advantages, loss.

A checkpoint is a safetensors file of the adapter's weights and Adam's moments, with one canonical JSON text
that says which policy and step they belong to: the same bytes for the same state. It has no state of a random
generator: every draw comes from the seed that the caller passes in.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError, MachineryError
from evolake.prompts.model.protocol import Decoding, Group, Problem, Sample, UpdateStats
from evolake.prompts.model.recipes import Recipe
from evolake.prompts.policies.models import Base
from evolake.prompts.policies.shared_prompts import can_share, read_prompts
from evolake.prompts.policies.training import Learner, take_step, usable
from evolake.prompts.policies.turns import Stops, replies

if TYPE_CHECKING:
    from evolake.prompts.model.prompt import SystemPrompt
    from evolake.prompts.policies.vllm_server import VllmServer, Weights
    from evolake.prompts.tools import Toolbox


FORMAT = 1
KEY = "evolake"


def pack(tensors: dict[str, Any], facts: dict[str, Any]) -> bytes:
    """Return the blob. tensors: name -> torch tensor, on any device. facts: JSON values, compared by
    `unpack`'s caller."""
    from safetensors.torch import save

    ready = {name: tensor.detach().to("cpu").contiguous() for name, tensor in sorted(tensors.items())}
    return save(ready, metadata={KEY: json.dumps(facts | {"format": FORMAT}, sort_keys=True)})


def unpack(state: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (tensors on the CPU, facts) of a blob.

    Raises:
        InputError: these bytes are no checkpoint, or one of another version.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        length = int.from_bytes(state[:8], "little")
        facts = json.loads(json.loads(state[8 : 8 + length])["__metadata__"][KEY])
        if facts["format"] != FORMAT:
            raise InputError(
                "a checkpoint of another version",
                wanted=f"format {FORMAT}",
                got=str(facts["format"]),
                do="train again",
            )
        return load(state), facts
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            "these bytes are no checkpoint of a policy", wanted="what save() gave", got=str(error)[:200]
        ) from None


_MOMENTS = ("exp_avg", "exp_avg_sq")


@dataclass(frozen=True)
class Sizes:
    """lora_rank, lora_alpha: of the adapter. max_tokens: longest reply. max_prompt_tokens: longest system
    prompt with problem. rows_at_once, rows_per_pass: replies that are sampled at the same time, and that a
    forward and backward pass takes. threads: of torch on the CPU."""

    lora_rank: int
    lora_alpha: int
    max_tokens: int
    max_prompt_tokens: int
    rows_at_once: int
    rows_per_pass: int
    threads: int


def drawn_by(decoding: Decoding) -> dict[str, Any]:
    """Return transformers' options for drawing replies."""
    return {
        "do_sample": True,
        "temperature": decoding.temperature,
        "top_k": decoding.top_k,
        "top_p": decoding.top_p,
    }


class LocalPolicy:
    """A policy (see `evolake.prompts.model.protocol.Policy`) on this machine.

    Args:
        base: what the adapter is trained on; it belongs to this policy from now on.
        seed: the adapter's first weights come from it. reply_start: read after the start of a reply, and no
            part of the sample.
        tools: what it may call; the policy's from now on, closed with it. server: samples replies instead of
            transformers here; the policy's from
        now on, closed with it. No tools then.

    Raises:
        InputError: the server has another base model.
    """

    learns = True

    def __init__(
        self,
        base: Base,
        recipe: Recipe,
        sizes: Sizes,
        *,
        seed: int,
        reply_start: str = "",
        tools: Toolbox | None = None,
        server: VllmServer | None = None,
    ):
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import GenerationConfig

        torch.set_num_threads(sizes.threads)
        self.name, self.recipe, self.tokenizer, self.steps = base.name, recipe, base.tokenizer, 0
        self._reply_start = (
            list(base.tokenizer(reply_start, add_special_tokens=False)["input_ids"]) if reply_start else []
        )
        self.max_tokens, self.max_prompt_tokens = sizes.max_tokens, sizes.max_prompt_tokens
        self.rows_at_once, self.rows_per_pass = sizes.rows_at_once, sizes.rows_per_pass
        self.tools = tools
        self.dtype = str(base.model.dtype).removeprefix("torch.")
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        config = LoraConfig(
            r=sizes.lora_rank,
            lora_alpha=sizes.lora_alpha,
            lora_dropout=0.0,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.model: Any = get_peft_model(base.model, config)
        self.model.to(self.device).eval()
        self._trained = {
            name: parameter for name, parameter in self.model.named_parameters() if parameter.requires_grad
        }
        self.optimizer = torch.optim.Adam(self._trained.values(), lr=recipe.learning_rate, betas=recipe.betas)
        self._facts = {
            "base": base.sha,
            "rank": sizes.lora_rank,
            "alpha": sizes.lora_alpha,
            "dtype": self.dtype,
        }
        ends = base.model.generation_config.eos_token_id
        if isinstance(ends, list):
            ends = ends
        elif ends is None:
            ends = []
        else:
            ends = [ends]
        self._ends = sorted({*ends, base.tokenizer.eos_token_id})
        self._pad = (
            base.tokenizer.pad_token_id
            if base.tokenizer.pad_token_id is not None
            else base.tokenizer.eos_token_id
        )
        marks = {
            "bos_token_id": base.tokenizer.bos_token_id,
            "eos_token_id": self._ends,
            "pad_token_id": self._pad,
        }
        base.model.generation_config = GenerationConfig(**marks)  # none of the model's own habits of sampling
        self.server, self._version = server, 0
        if server is not None:
            with self.model.disable_adapter():
                server.check(self._fixed(), self._log_probs(self._fixed()))

    def __enter__(self) -> LocalPolicy:
        return self

    def __exit__(self, *_: object) -> None:
        if self.tools is not None:
            self.tools.close()
        if self.server is not None:
            self.server.close()

    def sample(
        self,
        pairs: Sequence[tuple[SystemPrompt, Problem]],
        n: int,
        seed: int,
        *,
        greedy: bool = False,
        decoding: Decoding | None = None,
    ) -> list[list[Sample]]:
        """Return n samples per pair; see the protocol.

        Raises:
            InputError: a system prompt with its problem is longer than max_prompt_tokens.
        """
        import torch

        asked = [self.prompt_ids(prompt, problem) for prompt, problem in pairs]
        draws = 1 if greedy else n
        drawn = {"do_sample": False} if greedy else drawn_by(decoding or Decoding(self.recipe.temperature))
        rows = [ids for ids in asked for _ in range(draws)]
        result: list[Sample] = []
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(seed)
            for start in range(0, len(rows), self.rows_at_once):
                result += self._generate(rows[start : start + self.rows_at_once], drawn)
        groups = [result[start : start + draws] for start in range(0, len(result), draws)]
        return [group * n for group in groups] if greedy else groups

    def answer(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        most_tokens: int,
        temperature: float | None,
        seed: int,
        adapted: bool,
    ) -> Sample | str:
        """Return one reply to a conversation, for the policy as an editor; why there is none where the
        conversation is longer than the model can read.

        Args:
            messages: with role and content. temperature: None: the recipe's. adapted: whether the adapter is
                on.
        """
        import torch

        conversation = [dict(message) for message in messages]
        ids = list(
            self.tokenizer.apply_chat_template(
                conversation, add_generation_prompt=True, tokenize=True, return_dict=False
            )
        )
        room = int(self.model.get_base_model().config.max_position_embeddings) - len(ids)
        if room < 1:
            return f"the messages have {len(ids)} tokens, and the model reads {room + len(ids)}"
        heat = self.recipe.temperature if temperature is None else temperature
        drawn = drawn_by(Decoding(heat)) if heat else {"do_sample": False}
        with (
            torch.random.fork_rng(),
            torch.no_grad(),
            nullcontext() if adapted else self.model.disable_adapter(),
        ):
            torch.manual_seed(seed)
            return self._sample(ids, self._drawn([ids], min(most_tokens, room), drawn, adapted=adapted)[0])

    def update(self, groups: Sequence[Group], seed: int) -> UpdateStats:
        """Take one step on these groups, or one on each mini-batch; none, if nothing in them distinguishes
        one reply from another."""
        kept = usable(groups, self.recipe)
        rejected = sum(reward is None for group in groups for reward in group.rewards)
        informative = sum(
            len({reward for reward in group.rewards if reward is not None}) > 1 for group in groups
        )
        if not kept:
            return UpdateStats(self.steps, 0.0, 0.0, 0.0, 0, len(groups), informative, rejected, False)
        step = take_step(
            Learner(self.model, self.tokenizer, self.optimizer, self.steps),
            self.recipe,
            kept,
            rows=sum(len(group.samples) for group in groups),
            max_tokens=self.max_tokens,
            rows_per_pass=self.rows_per_pass,
            seed=seed,
        )
        self.steps += step.count
        self._version += 1
        tokens = sum(
            sample.tokens
            for group in kept
            for sample, reward in zip(group.samples, group.rewards, strict=True)
            if reward is not None
        )
        return UpdateStats(
            self.steps,
            step.loss,
            step.grad_norm,
            step.kl,
            tokens,
            len(groups),
            informative,
            rejected,
            step.count > 0,
            step.entropy,
            step.clipped,
        )

    def save(self) -> bytes:
        """Return the adapter, Adam's moments and the number of steps; the same bytes for the same state."""
        tensors = {f"weight.{name}": parameter for name, parameter in self._trained.items()}
        for name, parameter in self._trained.items():
            state = self.optimizer.state.get(parameter, {})
            tensors |= {f"{moment}.{name}": state[moment] for moment in _MOMENTS if moment in state}
        return pack(tensors, self._facts | {"steps": self.steps})

    def load(self, state: bytes) -> None:
        """Put back what `save` of a policy on the same base gave.

        Raises:
            InputError: no checkpoint, or one of another base model, dtype or adapter.
        """
        import torch

        tensors, facts = unpack(state)
        own = {key: facts.get(key) for key in self._facts}
        if own != self._facts or {f"weight.{name}" for name in self._trained} - tensors.keys():
            only_dtype = {**own, "dtype": self.dtype} == self._facts
            mend = (
                f"set EVOLAKE_PROMPTS__DTYPE={own['dtype']}, or begin again"
                if only_dtype
                else "use the model it was trained on"
            )
            raise InputError("a checkpoint of another policy", wanted=str(self._facts), got=str(own), do=mend)
        self.steps = int(facts["steps"])
        self._version += 1
        self.optimizer.state.clear()
        for name, parameter in self._trained.items():
            parameter.data.copy_(tensors[f"weight.{name}"])
            if self.steps:
                moments = {moment: tensors[f"{moment}.{name}"].to(self.device) for moment in _MOMENTS}
                self.optimizer.state[parameter] = {"step": torch.tensor(float(self.steps)), **moments}

    def prompt_ids(self, prompt: SystemPrompt, problem: Problem) -> list[int]:
        """Return the tokens that the policy reads: the system prompt as it is (empty where it has no
        principle), the problem, what tools there are, and the start of a reply."""
        asked = f"{problem.text}\n\n{self.tools.description()}" if self.tools else problem.text
        messages = [{"role": "system", "content": prompt.text()}, {"role": "user", "content": asked}]
        ids = list(
            self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=False
            )
        )
        ids += self._reply_start
        if len(ids) > self.max_prompt_tokens:
            raise InputError(
                f"prompt {prompt.prompt_id[:12]} with problem {problem.problem_id[:12]} is too long",
                wanted=f"at most {self.max_prompt_tokens} tokens",
                got=f"{len(ids)}",
                do="raise EVOLAKE_PROMPTS__MAX_PROMPT_TOKENS",
            )
        if self.tools is not None:
            self._check_room(len(ids), self.tools)
        return ids

    def _check_room(self, read: int, tools: Toolbox) -> None:
        longest = read + self.max_tokens + tools.most_calls * tools.most_tokens
        if longest > (most := int(self.model.get_base_model().config.max_position_embeddings)):
            raise InputError(
                "a reply with the results of its tools may be longer than the model can read",
                wanted=f"at most {most} tokens",
                got=(
                    f"{longest}: {read} of the prompt, {self.max_tokens} of the reply, {tools.most_calls} "
                    f"results of {tools.most_tokens}"
                ),
                do=(
                    "lower EVOLAKE_PROMPTS__TOOL_TOKENS, EVOLAKE_PROMPTS__TOOL_TURNS or "
                    "EVOLAKE_PROMPTS__MAX_TOKENS"
                ),
            )

    def _generate(self, rows: list[list[int]], drawn: dict[str, Any]) -> list[Sample]:
        if self.tools is None:
            return [
                self._sample(ids, reply)
                for ids, reply in zip(rows, self._drawn(rows, self.max_tokens, drawn), strict=True)
            ]
        result = replies(
            rows,
            lambda read, stops: self._drawn(read, max(stops.rooms), drawn, stops),
            self.tools,
            self.tokenizer,
            most_tokens=self.max_tokens,
            ends=self._ends,
        )
        return [
            replace(
                self._sample(reply.prompt, reply.ids),
                tokens=reply.own,
                truncated=not reply.ended,
                reply_mask=tuple(reply.mask),
                calls=tuple(reply.calls),
            )
            for reply in result
        ]

    def _drawn(
        self,
        rows: list[list[int]],
        most_tokens: int,
        drawn: dict[str, Any],
        stops: Stops | None = None,
        *,
        adapted: bool = True,
    ) -> list[list[int]]:
        """Return the tokens that follow on each row, up to its end mark, or to where `stops` ends it."""
        import torch
        from transformers import GenerationConfig

        if self.server is not None:
            return self.server.draw(
                rows,
                torch.randint(2**31, (len(rows),)).tolist(),
                most_tokens=most_tokens,
                decoding=Decoding(
                    drawn.get("temperature", 0.0), drawn.get("top_p", 1.0), drawn.get("top_k", 0)
                ),
                ends=self._ends,
                check=self._fixed(),
                weights=self._weights() if adapted else None,
            )
        width = max(len(ids) for ids in rows)
        inputs = torch.full((len(rows), width), self._pad, dtype=torch.long)
        mask = torch.zeros_like(inputs)
        for number, ids in enumerate(rows):
            inputs[number, width - len(ids) :] = torch.tensor(ids)
            mask[number, width - len(ids) :] = 1
        config = GenerationConfig(
            max_new_tokens=most_tokens, eos_token_id=self._ends, pad_token_id=self._pad, **drawn
        )
        inputs, mask = inputs.to(self.device), mask.to(self.device)
        known: dict[str, Any] = {}
        plain = self.model.get_base_model()
        if width > 1 and len({tuple(ids) for ids in rows}) < len(rows) and can_share(plain):
            known["past_key_values"] = read_prompts(plain.base_model, inputs[:, :-1], mask[:, :-1]).cache
        if stops is not None:
            known["stopping_criteria"] = stops.criteria(self.tokenizer, width)
        output = self.model.generate(
            input_ids=inputs, attention_mask=mask, generation_config=config, **known
        )[:, width:].tolist()
        kept = [self._to_end(stops.kept(row, reply) if stops else reply) for row, reply in enumerate(output)]
        if not all(kept):
            raise MachineryError("the policy generated nothing", wanted="at least one token")
        return kept

    def _weights(self) -> Weights:
        from evolake.prompts.policies.vllm_server import Weights

        return Weights(self._version, self.model.save_pretrained, self._log_probs)

    def _fixed(self) -> list[int]:
        """Tokens of the text that a server is held against this policy on."""
        from evolake.prompts.policies.vllm_server import TEXT

        return list(self.tokenizer(TEXT, add_special_tokens=False)["input_ids"])

    def _log_probs(self, ids: Sequence[int]) -> list[float]:
        """Of each token after the first, in nats, by the model as it is now; (len(ids) - 1,)."""
        import torch

        read = torch.tensor([list(ids)], device=self.device)
        with torch.no_grad():
            logits = self.model(input_ids=read, use_cache=False).logits[0, :-1].float()
        return torch.log_softmax(logits, dim=-1).gather(-1, read[0, 1:, None])[:, 0].tolist()

    def _to_end(self, reply: list[int]) -> list[int]:
        end = next((place for place, token in enumerate(reply) if token in self._ends), None)
        return reply if end is None else reply[: end + 1]

    def _sample(self, prompt: list[int], reply: list[int]) -> Sample:
        text = self.tokenizer.decode(reply, skip_special_tokens=True)
        return Sample(text, len(reply), reply[-1] not in self._ends, tuple(prompt), tuple(reply))
