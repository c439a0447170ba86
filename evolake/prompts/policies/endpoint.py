"""A policy behind an OpenAI-compatible endpoint: it answers, and cannot be trained here. For the arms that
leave weights alone.

Calls go the way of every model call of evolake: call cache, budget, retries, rows. Two things differ from a
role: the reply is any text, not JSON, so nothing is repaired; and a reply that was cut off is a sample like
another. A draw is distinguished in the call cache by its attempt number, made of the seed and of which sample
it is: the same seed replays, another one draws again. The endpoint is not sent the seed: servers differ in
whether they honour it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from evolake.agents import AgentFailure, Agents, Role, open_agents
from evolake.agents.call_cache import Recorded, choose
from evolake.agents.endpoint import Body, Endpoint, Rejected
from evolake.agents.http_client import Lost
from evolake.agents.model import ModelBackend
from evolake.agents.reply_validation import Received
from evolake.agents.roles import Job, Record
from evolake.agents.sampling import Sampling, sampling_of
from evolake.canonical_json import key_of
from evolake.errors import InputError, MachineryError
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import LINE, Decoding, Group, Problem, Sample, UpdateStats, no_learning
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.settings import PromptsSettings
from evolake.settings import Settings

ROLE_NAME = "prompts_policy"
_SEEDS = 2**40


class Ask(BaseModel):
    """What the policy reads."""

    system: str
    problem: str
    greedy: bool


class Said(BaseModel):
    """What it replied."""

    text: str
    tokens: int
    truncated: bool


def _no_operators(request: Ask, random: np.random.Generator) -> Said:
    raise MachineryError("no operator answers problems", do="use the model backend")


ROLE = Role(ROLE_NAME, Ask, Said, _no_operators)


class PlainEndpoint(Endpoint):
    """An endpoint that is asked for any text, whatever the role's reply is."""

    def __init__(self, inner: Endpoint):
        self.inner = inner

    def knows(self, model: str) -> bool:
        """As the inner one."""
        return self.inner.knows(model)

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
        """As the inner one, without a format."""
        return self.inner.post(model, messages, None, sampling=sampling, lost=lost)

    def close(self) -> None:
        """Close the inner policy."""
        self.inner.close()


class TextBackend(ModelBackend):
    """The model backend for free text: one attempt per call, every text that came is a reply."""

    def ask(self, job: Job[Any, Any], record: Record) -> BaseModel | AgentFailure:
        """Return the reply, also a truncated or an empty one; an AgentFailure where the server declined or
        sent no completion."""
        request = job.request
        messages = [{"role": "system", "content": request.system}] if request.system else []
        messages.append({"role": "user", "content": request.problem})
        question = self.question(job, messages, {})
        if request.greedy:
            question = replace(question, sampling=replace(question.sampling, temperature=0.0))
        tag = choose(
            self.call_cache,
            question.sha,
            self.asker,
            lambda tag: Recorded("answered", self.call_cache.read(question.tagged(tag).key)),
        )
        question = question.tagged(tag)
        attempt = self.obtain(question, record)
        received: Received = attempt.received
        answered = received.outcome in ("received", "truncated", "empty") and (
            received.outcome != "empty" or received.counts is not None
        )
        status = "ok" if received.outcome == "received" else received.outcome
        record(self.row(question, attempt, status), attempt.charged)
        if not answered:
            return AgentFailure(job.role.name, status, " ".join(received.detail.split())[:500], 1)
        tokens = received.counts.output if received.counts else len(received.content.split())
        return Said(text=received.content, tokens=tokens, truncated=received.outcome == "truncated")


class EndpointPolicy:
    """A policy (see `evolake.prompts.model.protocol.Policy`) of an endpoint. `agents.rows()` are the rows of
    its calls."""

    learns = False

    def __init__(self, agents: Agents, name: str):
        self.agents, self.name = agents, name

    def __enter__(self) -> EndpointPolicy:
        return self

    def __exit__(self, *_: object) -> None:
        self.agents.backend.close()

    def sample(
        self,
        pairs: Sequence[tuple[SystemPrompt, Problem]],
        n: int,
        seed: int,
        *,
        greedy: bool = False,
        decoding: Decoding | None = None,
    ) -> list[list[Sample]]:
        """Return n replies per pair; see the protocol. A call that gave no reply is a sample with `failure`.

        Raises:
            AgentUnavailable, BudgetExhausted: as the agents do; what was paid for replays. InputError: a
                decoding, which is not sent to endpoints.
        """
        if decoding is not None:
            raise InputError(
                "the policy endpoint draws all replies alike",
                wanted="none of EVOLAKE_PROMPTS__EVAL_TEMPERATURE, _EVAL_TOP_P and _EVAL_TOP_K",
                got=str(decoding),
                do="unset them, or set EVOLAKE_PROMPTS__EVAL_TEMPERATURE=0 for greedy replies",
            )
        draws = 1 if greedy else n
        seen: dict[str, int] = {}
        asks, attempts = [], []
        for prompt, problem in pairs:
            ask = Ask(system=prompt.text(), problem=problem.text, greedy=greedy)
            first = seen.get(key := key_of(ask.model_dump()), 0)
            seen[key] = first + draws
            asks += [ask] * draws
            attempts += (
                [0] * draws
                if greedy
                else [(seed % _SEEDS) * 10_000 + first + number for number in range(draws)]
            )
        replies = self.agents.call_many(ROLE, asks, seeds=[0] * len(asks), attempts=attempts)
        result = [_sample(reply.value) for reply in replies]
        groups = [result[start : start + draws] for start in range(0, len(result), draws)]
        return [group * n for group in groups] if greedy else groups

    def update(self, groups: Sequence[Group], seed: int) -> UpdateStats:
        """Raise MachineryError: these weights are not ours."""
        raise no_learning(self.name)

    def save(self) -> bytes:
        """Raise MachineryError: there is no state."""
        raise no_learning(self.name)

    def load(self, state: bytes) -> None:
        """Raise MachineryError: there is no state."""
        raise no_learning(self.name)


def open_endpoint(settings: Settings, lake_root: Path, cycle: str, run_id: str) -> EndpointPolicy:
    """Return the policy of the endpoint in the settings: the model of the role `prompts_policy`, else the
    default one.

    Raises:
        InputError: an endpoint, a key, a model, a budget or a price is missing.
    """
    agents = open_agents(
        settings.model_copy(update={"backend": "model"}), lake_root, cycle, run_id, line=LINE
    )
    held = agents.backend
    assert isinstance(held, ModelBackend)
    values = {
        field.name: getattr(held, field.name)
        for field in fields(held)
        if field.init and not field.name.startswith("_")
    }
    sizes = settings.of(PromptsSettings)
    own = replace(
        sampling_of(settings, ROLE_NAME),
        max_output_tokens=sizes.max_tokens,
        temperature=recipe_of(sizes).temperature,
    )
    endpoint = PlainEndpoint(held.endpoint) if held.endpoint is not None else None
    backend = TextBackend(**(values | {"sampling": lambda role: own, "repairs": 0, "endpoint": endpoint}))
    return EndpointPolicy(Agents(backend, line=LINE, cycle=cycle), backend.model_of(ROLE_NAME))


def _sample(reply: Said | AgentFailure) -> Sample:
    if isinstance(reply, AgentFailure):
        return Sample("", 0, False, failure=f"{reply.status}: {reply.reason}")
    return Sample(reply.text, reply.tokens, reply.truncated)
