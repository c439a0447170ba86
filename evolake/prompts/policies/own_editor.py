"""The policy itself as the editor of its prompts: a model that needs no endpoint.

E-SPL's editor is the policy's own base: a fixed reference that reflects, changes and crosses while the
adapter learns. Here it is the model that is in memory already, with its adapter off (`base`), or as it is
after its last update (`policy`). Its replies go the way of every model's: call cache, budget, rows, and a
reply that is no valid one is said to be none. The same question under the same weights gets the same reply.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from evolake.agents import Agents
from evolake.agents.budget import Budget
from evolake.agents.call_cache import CallCache
from evolake.agents.endpoint import Body, Endpoint, Rejected
from evolake.agents.http_client import Lost
from evolake.agents.model import ModelBackend
from evolake.agents.sampling import Sampling, sampling_of
from evolake.agents.wire import as_replies
from evolake.canonical_json import key_of
from evolake.prompts.model.protocol import LINE
from evolake.seeds import child_seed
from evolake.settings import Settings

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
