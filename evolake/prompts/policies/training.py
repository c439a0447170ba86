"""Update the weights once by trl's GRPO trainer, on samples that were drawn and rewarded before (E-SPL,
section 3.1).

The trainer's own generation is replaced by the samples' tokens, so what was rewarded is what is trained on. A
trainer lives for one step; the model, its adapter and Adam's moments live on in the policy. With one
mini-batch the old policy is the new one, the importance ratio is 1, and a step is the plain policy gradient:
sum over tokens of advantage times grad log p, in dr_grpo over (rows times the longest reply allowed), in grpo
over the tokens of the row and then over rows, in dapo and cispo over the tokens of all rows.

With several mini-batches the groups are cut into as many parts, one optimizer step each. Log probabilities of
the policy that sampled are taken before the first step; the ratio to it is clipped to 1 - CLIP_RANGE .. 1 +
CLIP_RANGE (cispo: capped at `CISPO_CAP`). The denominator of a step is an equal share of that of all. Groups
whose tokens carry no loss fill up the last part.

A group whose rewards are all equal has no advantage and, without a KL term, is left out of the passes. In
dr_grpo and grpo the loss is scaled by the share of the rows that stay, so that the gradient is the same; in
dapo and cispo the tokens are those of the groups that stay. A rejected sample stays in its group as a row
whose only token carries no loss: it counts neither in the group's mean and deviation nor among the tokens (a
reward of None alone would leave it in the denominator and in the KL term). The same mask takes the results of
tools out of loss, KL and entropy.
"""

from __future__ import annotations

import importlib
import logging
import random
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.errors import MachineryError
from evolake.prompts.model.protocol import Group, Sample
from evolake.prompts.model.recipes import CISPO_CAP, CORRECT, Recipe
from evolake.prompts.policies.models import offline
from evolake.prompts.policies.shared_prompts import can_share, log_probabilities
from evolake.scratch import Scratch

CLIP_RANGE = 0.2
"""How far the ratio of probabilities may be from 1; trl's `epsilon`."""


@dataclass(frozen=True)
class Step:
    """What trl's steps gave: the loss that was descended and the gradient's norm before clipping (means over
    the mini-batches), the mean KL and the mean entropy a token (nats), the share of tokens whose ratio was
    clipped, and how many optimizer steps had a gradient."""

    loss: float
    grad_norm: float
    kl: float
    entropy: float
    clipped: float
    count: int


def usable(groups: Sequence[Group], recipe: Recipe) -> list[Group]:
    """Return the groups that a step passes through the model: with two accepted samples; where the recipe
    rejects, with a correct one; and if no KL term acts on the others, with rewards that differ."""
    kept = []
    for group in groups:
        rewards = [reward for reward in group.rewards if reward is not None]
        if len(rewards) < 2 or (recipe.rejects is not None and max(rewards) < CORRECT):
            continue
        if recipe.kl > 0 or max(rewards) > min(rewards):
            kept.append(group)
    return kept


@dataclass(frozen=True)
class Learner:
    """What learns. model: a peft model with one adapter, `default`. optimizer: of the adapter's weights.
    steps: that it has taken."""

    model: Any
    tokenizer: Any
    optimizer: Any
    steps: int = 0


def take_step(
    learner: Learner,
    recipe: Recipe,
    groups: Sequence[Group],
    *,
    rows: int,
    max_tokens: int,
    rows_per_pass: int,
    seed: int,
) -> Step:
    """Take one optimizer step on groups of equal size, or one on each mini-batch of them.

    Args:
        groups: from `usable`, at least one. rows: the samples of all groups that came, those left
        out too: the denominator. max_tokens: the longest reply allowed. rows_per_pass: the most rows a
            forward and backward pass takes.
        seed: of the trainer's own generators, which are put back afterwards.
    """
    offline()
    import torch
    from datasets import Dataset, disable_progress_bars
    from torch.optim.lr_scheduler import LambdaLR
    from transformers import PrinterCallback

    model, tokenizer, optimizer = learner.model, learner.tokenizer, learner.optimizer
    for weights in optimizer.param_groups:
        weights["initial_lr"] = 1.0
    rates = LambdaLR(optimizer, lambda step: recipe.rate_at(learner.steps + step))
    sizes = {len(group.samples) for group in groups}
    if len(sizes) != 1 or not groups:
        raise MachineryError(
            "groups of one update differ in size",
            wanted="the same number of samples in each",
            got=str(sorted(sizes)),
        )
    disable_progress_bars()
    steps = min(recipe.mini_batches, len(groups))
    groups = [*groups, *_without_loss(-len(groups) % steps, groups[0], tokenizer.eos_token_id)]
    count = len(groups) * sizes.pop()
    share = count / rows if recipe.loss_type in ("dr_grpo", "grpo") else 1.0
    replay = _Replay(groups, tokenizer.eos_token_id)
    plain = model.get_base_model()
    with _quiet(), _randomness_kept(), _rows_in_order(), Scratch("policy") as folder:
        trainer = _trainer_class()(
            share,
            model=model,
            reward_funcs=replay.rewards,
            rollout_func=replay.rollouts,
            processing_class=tokenizer,
            args=_arguments(
                folder,
                recipe,
                _Passes(count, count // len(groups), steps, max_tokens, rows_per_pass),
                seed,
                model.device.type == "cpu",
            ),
            train_dataset=Dataset.from_dict({"prompt": [str(number) for number in range(len(groups))]}),
            optimizers=(optimizer, rates),
        )
        if (
            "ref" in model.peft_config
        ):  # trl's copy of the adapter as it is now; ours is the policy before any update: no adapter
            model.delete_adapter("ref")
            model.set_adapter("default")
        trainer.remove_callback(PrinterCallback)
        moved = _MovedByGradients()
        hook = optimizer.register_step_pre_hook(moved)
        try:
            trainer.train()
        finally:
            hook.remove()
            plain.__dict__.pop("forward", None)  # trl put its own forward on the instance, one more each time
            model.eval()
            optimizer.zero_grad(set_to_none=True)
        norms = [float(entry["grad_norm"]) for entry in trainer.state.log_history if "grad_norm" in entry]
        if trainer.state.global_step != steps or len(norms) != steps or not replay.done:
            raise MachineryError(
                "trl took no step on our samples",
                wanted=f"{steps} steps",
                got=f"{trainer.state.global_step} steps",
            )
        if not all(
            torch.isfinite(parameter).all() for parameter in model.parameters() if parameter.requires_grad
        ):
            raise MachineryError(
                "an update made weights that are no numbers", do="lower EVOLAKE_PROMPTS__LEARNING_RATE"
            )
    return Step(
        sum(trainer.losses) / steps,
        sum(norms) / steps,
        mean_over(trainer.kls),
        mean_over(trainer.entropies),
        mean_over(trainer.clipped),
        moved.count,
    )


class _MovedByGradients:
    """Keeps Adam's momentum from moving the weights in a step without any gradient, such as that of a part
    that only fills up: without gradients, `step` leaves weights, moments and its own count as they are."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, optimizer: Any, *_: Any) -> None:
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        if any(one.grad is not None and bool(one.grad.any()) for one in parameters):
            self.count += 1
            return
        for one in parameters:
            one.grad = None


def _without_loss(count: int, like: Group, end: int) -> list[Group]:
    """Return groups whose only token carries no loss, as large as another one."""
    empty = Sample("", 0, False, (end,), (end,), reply_mask=(0,))
    return [Group(like.prompt_id, "", (empty,) * len(like.samples), (0.0,) * len(like.samples))] * count


def mean_over(passes: Sequence[tuple[float, int]]) -> float:
    """Return the mean over the tokens of all passes, of (mean of a pass, its tokens); trl's own log is the
    mean over the passes."""
    return sum(mean * tokens for mean, tokens in passes) / max(1, sum(tokens for _, tokens in passes))


class _Replay:
    """Hand the trainer our tokens and their rewards in place of those that it would draw."""

    def __init__(self, groups: Sequence[Group], end: int):
        self.groups, self.end = groups, end
        self.done = False
        self._asked: list[tuple[int, int]] = []

    def rollouts(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        """Return the tokens of every row; the k-th row with one prompt is the k-th sample of that group."""
        seen: dict[int, int] = {}
        self._asked = []
        for prompt in prompts:
            group = int(prompt)
            self._asked.append((group, seen.get(group, 0)))
            seen[group] = seen.get(group, 0) + 1
        rows = [
            (self.groups[group].samples[number], self.groups[group].rewards[number])
            for group, number in self._asked
        ]
        result: dict[str, list[Any]] = {
            "prompt_ids": [
                [self.end] if reward is None else list(sample.prompt_ids) for sample, reward in rows
            ],
            "completion_ids": [
                [self.end] if reward is None else list(sample.reply_ids) for sample, reward in rows
            ],
        }
        if any(reward is None or sample.reply_mask for sample, reward in rows):
            result["env_mask"] = [
                [0] if reward is None else list(sample.reply_mask) or [1] * len(sample.reply_ids)
                for sample, reward in rows
            ]
        return result | {"logprobs": None}  # type: ignore[dict-item]

    def rewards(self, completion_ids: list[list[int]], **_: Any) -> list[float | None]:
        """Return the rewards of the rows that `rollouts` gave."""
        result = []
        for (group, number), ids in zip(self._asked, completion_ids, strict=True):
            reward = self.groups[group].rewards[number]
            if reward is not None and list(ids) != list(self.groups[group].samples[number].reply_ids):
                raise MachineryError("trl rewards another reply than the one that was sampled")
            result.append(reward)
        self.done = True
        return result


def _trainer_class() -> Any:
    import torch
    from trl.trainer.grpo_trainer import GRPOTrainer

    class OneStep(GRPOTrainer):
        """GRPO whose loss is a share of trl's, and which reports to no service."""

        def __init__(self, share: float, **options: Any):
            self.share = share
            self.losses: list[float] = []
            self.kls: list[tuple[float, int]] = []
            self.entropies: list[tuple[float, int]] = []
            self.clipped: list[tuple[float, int]] = []
            super().__init__(**options)

        def compute_loss(self, model: Any, inputs: dict[str, Any], *arguments: Any, **options: Any) -> Any:
            loss = super().compute_loss(model, inputs, *arguments, **options) * self.share
            self.losses.append(float(loss.detach()))
            tokens = int((inputs["completion_mask"] * inputs.get("tool_mask", 1)).sum())
            self.entropies.append((self._metrics["train"]["entropy"][-1], tokens))
            clipped = self._metrics["train"].get(
                "cispo_clip_ratio" if self.loss_type == "cispo" else "clip_ratio/region_mean", [0.0]
            )
            self.clipped.append((clipped[-1], tokens))
            if self.beta:
                self.kls.append((self._metrics["train"]["kl"][-1], tokens))
            return loss

        def _get_per_token_logps_and_entropies(
            self,
            model: Any,
            input_ids: Any,
            attention_mask: Any,
            logits_to_keep: int,
            batch_size: int | None = None,
            **options: Any,
        ) -> Any:
            plain = self.accelerator.unwrap_model(model).get_base_model()
            if not can_share(plain):
                return super()._get_per_token_logps_and_entropies(
                    model, input_ids, attention_mask, logits_to_keep, batch_size, **options
                )
            size = batch_size or len(input_ids)
            parts = [
                log_probabilities(
                    plain,
                    input_ids[start : start + size],
                    attention_mask[start : start + size],
                    logits_to_keep,
                    self.temperature,
                )
                for start in range(0, len(input_ids), size)
            ]
            logs, entropies = (torch.cat(part) for part in zip(*parts, strict=True))
            return logs, entropies, None

        def _send_telemetry(self) -> None:
            return

    return OneStep


@dataclass(frozen=True)
class _Passes:
    """How the rows of an update are spread. group: rows of a group. steps: optimizer steps. rows_per_pass:
    the most of one pass."""

    rows: int
    group: int
    steps: int
    max_tokens: int
    rows_per_pass: int


def _arguments(folder: str, recipe: Recipe, passes: _Passes, seed: int, on_cpu: bool) -> Any:
    from trl.trainer.grpo_config import GRPOConfig

    of_step = passes.rows // passes.steps
    at_once = max(size for size in range(1, min(of_step, passes.rows_per_pass) + 1) if of_step % size == 0)
    result = GRPOConfig(
        output_dir=folder,
        use_cpu=on_cpu,
        bf16=False,
        fp16=False,
        seed=seed % 2**32,
        max_steps=passes.steps,
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=of_step // at_once,
        steps_per_generation=passes.rows // at_once,
        num_generations=passes.group,
        num_iterations=1,
        max_completion_length=passes.max_tokens,
        temperature=recipe.temperature,
        shuffle_dataset=False,
        loss_type=recipe.loss_type,
        scale_rewards=recipe.scale_rewards,
        beta=recipe.kl,
        mask_truncated_completions=recipe.mask_truncated,
        use_bias_correction_kl=recipe.kl_term == "weighted",
        epsilon=CLIP_RANGE,
        epsilon_high=CISPO_CAP if recipe.loss_type == "cispo" else None,
        learning_rate=recipe.learning_rate,
        max_grad_norm=recipe.clip or 0.0,
        gradient_checkpointing=False,
        dataloader_pin_memory=not on_cpu,
        logging_strategy="steps",
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    if result.n_gpu > 1:
        result._n_gpu = 1  # the model is on the first GPU; trl refuses to spread a plain process over several
    return result


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the libraries say on their own: names that will change, and rewards that are None on
    purpose."""
    log = logging.getLogger("trl")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


@contextmanager
def _rows_in_order() -> Iterator[None]:
    """Keep the order of the rows inside the block: trl mixes the rows before it cuts them into passes: the
    rows of one prompt would be read in several."""
    grpo_trainer: Any = importlib.import_module("trl.trainer.grpo_trainer")
    mixed = grpo_trainer.shuffle_sequence_dict
    grpo_trainer.shuffle_sequence_dict = lambda rows: rows
    try:
        yield
    finally:
        grpo_trainer.shuffle_sequence_dict = mixed


@contextmanager
def _randomness_kept() -> Iterator[None]:
    """Put back every global random generator when the block ends: the trainer seeds all of them."""
    import torch

    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
