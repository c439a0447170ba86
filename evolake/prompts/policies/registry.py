"""Choose the policy that serves, by the settings, and who edits the prompts: the backend of the settings, or
the policy itself (`own_editor`).

local weights on this machine that learn: the bundled model, or a checkpoint of the user's tiny the same with
random weights of two layers, for trying the plumbing endpoint an OpenAI-compatible endpoint: it answers and
does not learn

The policy itself as the editor of its prompts: a model that needs no endpoint.

E-SPL's editor is the policy's own base: a fixed reference that reflects, changes and crosses while the
adapter learns. Here it is the model that is in memory already, with its adapter off (`base`), or as it is
after its last update (`policy`). Its replies go the way of every model's: call cache, budget, rows, and a
reply that is no valid one is said to be none. The same question under the same weights gets the same reply.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from evolake.agents import Agents, open_agents
from evolake.agents.budget import Budget
from evolake.agents.call_cache import CallCache
from evolake.agents.endpoint import Body, Endpoint, Rejected
from evolake.agents.http_client import Lost
from evolake.agents.model import ModelBackend
from evolake.agents.sampling import Sampling, sampling_of
from evolake.agents.wire import as_replies
from evolake.canonical_json import key_of
from evolake.errors import InputError
from evolake.prompts.model.protocol import LINE, Policy
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.policies.models import Base, load_base, missing_extra, missing_model, with_dtype
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tools import check_tools, open_toolbox
from evolake.seeds import child_seed
from evolake.settings import Settings

if TYPE_CHECKING:
    from evolake.prompts.policies.vllm_server import VllmServer


LONGEST_EDIT = 1024
"""Tokens of the longest reply of a policy that edits."""


class PolicyEndpoint(Endpoint):
    """A policy's model in the place of an endpoint.

    Args:
        answer: `LocalPolicy.answer`. adapted: whether its adapter is on. most_tokens: its longest reply.
            seed: of its draws.
    """

    def __init__(self, answer: Callable[..., Any], *, adapted: bool, most_tokens: int, seed: int):
        self._answer, self._adapted, self._most_tokens, self._seed = answer, adapted, most_tokens, seed
        self._times: Counter[str] = Counter()

    def knows(self, model: str) -> bool:
        """Return True: there are no forms to try."""
        return True

    def redact(self, text: str) -> str:
        """Return the text: there is no key."""
        return text

    def post(
        self,
        model: str,
        messages: list[dict[str, str]],
        reply: type[BaseModel] | None,
        *,
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] = (),
        lost: Lost = lambda why: None,
    ) -> Body | Rejected:
        """Return what the model says, as a chat completion; Rejected where the messages are longer than it
        can read."""
        sent, start = as_replies(messages, tools, reply), time.monotonic()
        asked = key_of([model, sent])
        seed = child_seed(self._seed, LINE, asked, "editor", self._times[asked])
        self._times[asked] += 1
        most = min(sampling.max_output_tokens, self._most_tokens)
        said = self._answer(
            sent, most_tokens=most, temperature=sampling.temperature, seed=seed, adapted=self._adapted
        )
        if isinstance(said, str):
            return Rejected("rejected", said)
        completion = {
            "object": "chat.completion",
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": said.reply},
                    "finish_reason": "length" if said.truncated else "stop",
                }
            ],
            "usage": {
                "prompt_tokens": len(said.prompt_ids),
                "completion_tokens": said.tokens,
                "total_tokens": len(said.prompt_ids) + said.tokens,
            },
        }
        return Body(json.dumps(completion), "application/json", time.monotonic() - start)

    def close(self) -> None:
        """Keep the policy open: it is not the endpoint's."""


class _Serving(dict[str, str]):
    """Every role is served by the model that `name` says now."""

    def __init__(self, name: Callable[[], str]):
        super().__init__()
        self._name = name

    def get(self, key: str, default: Any = None) -> Any:
        return self._name()


def policy_agents(
    settings: Settings, lake_root: Path, cycle: str, run_id: str, policy: Any, *, adapted: bool
) -> Agents:
    """Return agents whose every role is served by a policy with a method `answer`. adapted: whether its
    adapter is on."""

    def name() -> str:
        return (
            f"{policy.name}, {hashlib.sha256(policy.save()).hexdigest()[:12]}"
            if adapted
            else f"{policy.name}, adapter off"
        )

    call_cache = CallCache(lake_root / "tape")
    backend = ModelBackend(
        endpoint=PolicyEndpoint(policy.answer, adapted=adapted, most_tokens=LONGEST_EDIT, seed=settings.seed),
        call_cache=call_cache,
        budget=Budget(settings.budget, call_cache, line=LINE, cycle=cycle, run_id=run_id),
        models=_Serving(name),
        prices={},
        sampling=lambda role: sampling_of(settings, role),
        repairs=settings.model_repairs,
        threads=1,
        line=LINE,
        cycle=cycle,
        run_id=run_id,
        address=f"{'policy' if adapted else 'base'} of the policy",
    )
    return Agents(backend, line=LINE, cycle=cycle)


SAMPLER = "EVOLAKE_PROMPTS__SAMPLER"


def open_policy(settings: Settings, lake_root: Path, cycle: str, run_id: str) -> Policy:
    """Return the policy that the settings name, before any update. The adapter's first weights come from
    `settings.seed` alone, in every cycle the same.

    Args:
        lake_root: holds the call cache and the budget's accounts of an endpoint; see `model_cache` for the
            unpacked bundled model.

    Raises:
        MachineryError: the extra `policy` is missing and needed; says what to install.
        InputError: the endpoint's settings are not enough, the checkpoint that they name is not there, the
            policy cannot have their tools, or the
        vLLM server that they name does not answer or has another model.
        JailUnavailable: `python` is among the tools, and no jail holds here.
    """
    own = settings.of(PromptsSettings)
    check_tools(own)
    check_sampler(own)
    if own.policy == "endpoint":
        from evolake.prompts.policies.endpoint import open_endpoint

        return open_endpoint(settings, lake_root, cycle, run_id)
    base = load_base(own.policy, own.policy_model, model_cache(lake_root), with_dtype(own).dtype)
    from evolake.prompts.policies.local import LocalPolicy, Sizes

    sizes = Sizes(
        own.lora_rank,
        own.lora_alpha,
        own.max_tokens,
        own.max_prompt_tokens,
        own.rows_at_once,
        own.rows_per_pass,
        own.threads,
    )
    return LocalPolicy(
        base,
        recipe_of(own),
        sizes,
        seed=child_seed(settings.seed, LINE, "0000", "adapter"),
        reply_start=own.reply_start,
        tools=open_toolbox(settings),
        server=open_server(own, base) if own.sampler == "vllm" else None,
    )


def open_server(own: PromptsSettings, base: Base) -> VllmServer:
    """Return the server that samples for the policy on `base`. Raises InputError: it does not answer, or
    reads too little."""
    from evolake.prompts.policies.vllm_server import VllmServer

    dtype = str(base.model.dtype).removeprefix("torch.")
    return VllmServer(
        own.vllm_url or "",
        own.vllm_folder,
        dtype=dtype,
        vocabulary=int(base.model.config.vocab_size),
        room=own.max_prompt_tokens + own.max_tokens,
        at_once=own.rows_at_once,
    )


def check_sampler(own: PromptsSettings) -> None:
    """Whether the settings of who samples fit each other and the policy; asks no server.

    Raises:
        InputError: they do not, and why.
    """
    if own.sampler != "vllm":
        return
    if own.policy == "endpoint":
        raise InputError(
            "a policy behind an endpoint has no sampler here",
            wanted="EVOLAKE_PROMPTS__POLICY=local",
            got=f"endpoint, with {SAMPLER}=vllm",
            do=f"unset {SAMPLER}, or set EVOLAKE_PROMPTS__POLICY=local",
        )
    if own.vllm_url is None or not own.vllm_url.startswith(("http://", "https://")):
        raise InputError(
            f"{SAMPLER}=vllm needs the address of the server",
            wanted="EVOLAKE_PROMPTS__VLLM_URL=http://HOST:PORT",
            got=str(own.vllm_url),
            do="start `vllm serve` in a separate environment and set it (docs/tutorials/vllm.md)",
        )
    if own.tools:
        raise InputError(
            "replies that call tools are sampled by transformers",
            wanted=f"{SAMPLER}=transformers",
            got=f"vllm, with the tools {', '.join(own.tools)}",
            do=f"unset {SAMPLER}, or EVOLAKE_PROMPTS__TOOLS",
        )


def model_cache(lake_root: Path) -> Path:
    """Return where the bundled model is unpacked, once for all lakes of a user: below XDG_CACHE_HOME, else
    ~/.cache. If nothing can be written there, in the lake's work folder, which is no part of its content."""
    place = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "evolake" / "models"
    nearest = next(folder for folder in place.parents if folder.exists()) if place.is_absolute() else None
    return (
        place
        if nearest is not None and os.access(nearest, os.W_OK | os.X_OK)
        else lake_root / "work" / LINE / "models"
    )


def missing(settings: Settings) -> str | None:
    """Return what is in the way of the policy that the settings name, as one line; None if nothing does.
    Imports no model library.

    Raises:
        InputError: the settings ask for tools or a sampler that the policy cannot have.
    """
    check_tools(settings.of(PromptsSettings))
    check_sampler(settings.of(PromptsSettings))
    if settings.of(PromptsSettings).policy != "endpoint":
        return missing_extra() or missing_model(
            settings.of(PromptsSettings).policy, settings.of(PromptsSettings).policy_model
        )
    return None


def open_editors(settings: Settings, lake_root: Path, cycle: str, run_id: str, policy: Policy) -> Agents:
    """Return the agents that edit prompts, as the setting `editor` says.

    Raises:
        InputError: as `open_agents`; or the policy is to edit and has no weights on this machine.
    """
    own = settings.of(PromptsSettings)
    if own.editor == "backend":
        return open_agents(settings, lake_root, cycle, run_id, line=LINE)
    if not hasattr(policy, "answer"):
        raise InputError(
            f"the policy {policy.name} cannot edit prompts",
            wanted="a policy with weights on this machine",
            got=f"EVOLAKE_PROMPTS__EDITOR={own.editor} with EVOLAKE_PROMPTS__POLICY={own.policy}",
            do="set EVOLAKE_PROMPTS__EDITOR=backend",
        )

    return policy_agents(settings, lake_root, cycle, run_id, policy, adapted=own.editor == "policy")
