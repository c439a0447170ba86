"""The `model` backend: prompt, call cache, budget, wire, validation and repair, in that order.

A call is looked up in the call cache first (`evolake.agents.call_cache` says what answers it). Only what
is missing is paid for, within the budget, and written to the call cache before it is used. A reply that does
not fit is answered with what was wrong, a bounded number of times; then the call ends in an `AgentFailure`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pydantic import BaseModel

from evolake.agents.budget import Budget
from evolake.agents.call_cache import (
    Asker,
    CachedCall,
    CallCache,
    Question,
    Recorded,
    choose,
    read_conversation,
    received_of,
)
from evolake.agents.calls import AgentCall, Usage, one_line_reason, status_words
from evolake.agents.endpoint import Endpoint, Rejected
from evolake.agents.prices import Counts, estimate_text, estimate_tokens, plausible, price_usd, same_model
from evolake.agents.prompts import Message, build_messages, question_schema
from evolake.agents.reply_validation import FINAL, Received, billed, read_completion, validate_reply
from evolake.agents.roles import AgentFailure, Job, Record
from evolake.agents.sampling import Sampling
from evolake.agents.system_prompts import SystemPromptText, headed, prompt_for
from evolake.canonical_json import canonical_json, key_of, text_sha
from evolake.errors import AgentUnavailable, BudgetExhausted, InputError
from evolake.settings import PriceSettings, SessionSettings


@dataclass(frozen=True)
class Attempt:
    """One attempt after the call cache: what came, and what it took."""

    received: Received
    replayed: bool
    usd: float | None
    latency_s: float
    charged: Usage
    odd_usage: bool = False


@dataclass
class ModelBackend:
    """Serves roles by a model. `endpoint` None forbids new calls (replay only).

    Args:
        models: role -> model name; the key `default` serves the rest.
        line, cycle, run_id: stored with every entry of the call cache.
        address: of the endpoint, as the call cache keeps it; "" for none.
        redraw: whether a call that failed in an earlier run is asked again; see
            `evolake.agents.call_cache`.
        strict: whether a completion of another model than asked is an error.
        system_prompts: role -> evolved system prompt; the key `default` serves the rest.
        sampling: role -> how its replies are drawn. session: what one session may take.
    """

    endpoint: Endpoint | None
    call_cache: CallCache
    budget: Budget
    models: Mapping[str, str]
    prices: Mapping[str, PriceSettings]
    sampling: Callable[[str], Sampling]
    repairs: int
    threads: int
    line: str
    cycle: str
    run_id: str
    system_prompts: Mapping[str, SystemPromptText] = field(default_factory=dict)
    strict: bool = False
    address: str = ""
    redraw: bool = True
    session: SessionSettings = field(default_factory=SessionSettings)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    name: str = "model"
    _longest: dict[tuple[str, str], int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, job: Job[Any, Any], record: Record) -> BaseModel | AgentFailure:
        """Return the reply to one job, or an `AgentFailure` after the last repair.

        Raises:
            InputError: no model is named for the role, or new calls are forbidden and this one is not in the
                call cache.
            BudgetExhausted, AgentUnavailable: as they say; every attempt before is recorded and in the call
                cache.
        """
        attempts = range(10 * job.attempt, 10 * job.attempt + self.repairs + 1)
        question = self._chosen(self.first_question(job), attempts)
        prompt = prompt_for(self.system_prompts, job.role.name)
        while True:
            attempt = self.obtain(question, record)
            status, reply = validate_reply(attempt.received, job.role.reply, job.fault)
            record(self.row(question, attempt, status, prompt, reason=reply), attempt.charged)
            if not isinstance(reply, str):
                return reply
            if status in FINAL or question.number == attempts[-1]:
                return AgentFailure(
                    job.role.name, status, one_line_reason(reply), question.number - attempts.start + 1
                )
            question = question.repaired(attempt.received, status, reply, question.number + 1)

    @property
    def asker(self) -> Asker:
        """Who asks, for the choice of a conversation."""
        return Asker(
            self.address,
            self.line,
            self.cycle,
            self.run_id,
            replay_only=self.endpoint is None,
            redraw=self.redraw,
        )

    def question(self, job: Job[Any, Any], messages: list[Message], schema: dict[str, Any]) -> Question:
        """Return the first question of a call.

        Raises:
            InputError: no model is named for the role.
        """
        return Question(
            job,
            self.model_of(job.role.name),
            messages,
            schema,
            self.sampling(job.role.name),
            10 * job.attempt,
        )

    def first_question(self, job: Job[Any, Any]) -> Question:
        """Return the first question of a call, with the role's evolved system prompt if it has one. Raises
        InputError as `question`."""
        messages = build_messages(job.role, job.request, self.session)
        prompt = prompt_for(self.system_prompts, job.role.name)
        return self.question(job, headed(messages, prompt), question_schema(job.role))

    def _chosen(self, question: Question, attempts: range) -> Question:
        """Return the first question of the conversation that this call continues."""

        def recorded(tag: str) -> Recorded:
            return read_conversation(self.call_cache, question.tagged(tag), attempts)

        return question.tagged(choose(self.call_cache, question.sha, self.asker, recorded))

    def model_of(self, role: str) -> str:
        """Return the model that serves a role.

        Raises:
            InputError: neither the role nor `default` is in the settings.
        """
        name = self.models.get(role) or self.models.get("default")
        if not name:
            raise InputError(
                f"no model serves the role {role!r}",
                wanted=f"EVOLAKE_MODELS__{role.upper()} or EVOLAKE_MODELS__DEFAULT",
                got=", ".join(sorted(self.models)) or "no model at all",
                do="set one of them, or use the backend `operators`",
            )
        return name

    def warm(self, job: Job[Any, Any]) -> bool:
        """Return whether the endpoint's ladder and the size of this role's replies are known, so that calls
        may go out side by side."""
        model = self.model_of(job.role.name)
        with self._lock:
            return self.endpoint is None or (
                self.endpoint.knows(model) and (job.role.name, model) in self._longest
            )

    def close(self) -> None:
        """Close the connections."""
        if self.endpoint is not None:
            self.endpoint.close()

    def obtain(self, question: Question, record: Record) -> Attempt:
        """Return the answer to a question: that of the call cache, else a paid one, which is then in the call
        cache. Raises as `ask`."""
        if (entry := self.call_cache.read(question.key)) is not None:
            return self._replay(entry)
        if self.endpoint is None:
            near = self.call_cache.nearest(question.role, question.messages)
            raise InputError(
                f"replay only: the call cache has no reply for role {question.role}",
                wanted=f"entry of the call cache {question.key}",
                got=f"none in {self.call_cache.root}{near and '; '}{near}",
                do="run without --replay-only to pay for it, or restore the call cache of the original run",
            )
        with self.call_cache.lock(question.key):
            if (entry := self.call_cache.read(question.key)) is not None:
                return self._replay(entry)
            return self._pay(self.endpoint, question, record)

    def _replay(self, entry: CachedCall) -> Attempt:
        self._require_same(entry.model, entry.answered)
        if self.asker.owns(entry):
            self.budget.book_cycle(
                entry.key, Usage(1, entry.charged_tokens, entry.charged_usd, entry.cached_tokens or 0)
            )
        counts = None
        if entry.input_tokens is not None and entry.output_tokens is not None:
            counts = Counts(entry.input_tokens, entry.output_tokens, entry.cached_tokens)
            self._learn(entry.role, entry.model, counts.output)
        return Attempt(received_of(entry, counts), True, 0.0, 0.0, Usage(), entry.odd_usage)

    def _require_same(self, asked: str, answered: str) -> None:
        """Raise AgentUnavailable where another model answered and the settings forbid it."""
        if self.strict and not same_model(asked, answered):
            raise AgentUnavailable(
                "another model answered",
                wanted=asked,
                got=answered,
                do=(
                    "correct EVOLAKE_MODELS or the endpoint; or accept it with "
                    "EVOLAKE_MODEL_STRICT=false, and the calls say `answered_by`"
                ),
            )

    def _pay(self, endpoint: Endpoint, question: Question, record: Record) -> Attempt:
        role, model, sampling = question.job.role, question.model, question.sampling
        prompt_tokens, price = estimate_tokens(question.messages), self.prices.get(model)

        def lost(why: str) -> BudgetExhausted | None:
            """Charges a try that may have been billed, as if the reply had been as long as allowed."""
            most = Counts(prompt_tokens, sampling.max_output_tokens)
            usage = Usage(1, most.input + most.output, price_usd(price, most) or 0.0)
            attempt = Attempt(Received("lost", "", why), False, None, 0.0, usage)
            record(self.row(question, attempt, "lost", reason=why), usage)
            return self.budget.charge(f"{question.key}/lost/{uuid4().hex}", usage)

        with self._lock:
            expected = Counts(prompt_tokens, self._longest.get((role.name, model), 0))
        with self.budget.reserve(
            Usage(1, expected.input + expected.output, price_usd(price, expected) or 0.0)
        ) as reservation:
            answer = endpoint.post(
                model, question.messages, role.reply, sampling=sampling, tools=role.tools, lost=lost
            )
            if isinstance(answer, Rejected):
                return Attempt(
                    Received(answer.status, "", answer.reason, Counts(0, 0)), False, 0.0, 0.0, Usage()
                )
            received = read_completion(answer.text, cut=answer.cut, calls=bool(role.tools))
            sent = sum(
                len(message["content"].encode("utf-8", "replace")) for message in question.messages
            ) + len(canonical_json(question.schema))
            odd = received.counts is not None and not plausible(
                received.counts, sent, received.content, sampling.max_output_tokens
            )
            if odd:
                received = replace(received, counts=None)
            if not (odd or billed(received)):
                return Attempt(received, False, 0.0, answer.latency_s, Usage())
            charged_counts = received.counts or Counts(
                prompt_tokens, min(estimate_text(answer.text), sampling.max_output_tokens)
            )
            charged = Usage(
                1,
                charged_counts.input + charged_counts.output,
                price_usd(price, charged_counts) or 0.0,
                charged_counts.cached or 0,
            )
            reservation.book(question.key, charged)
            usd = price_usd(price, received.counts) if received.counts else None
            self._require_same(model, received.model)
            attempt = Attempt(received, False, usd, answer.latency_s, charged, odd)
            self.call_cache.write(self._entry(question, attempt))
        self._learn(role.name, model, charged_counts.output)
        return attempt

    def _learn(self, role: str, model: str, output_tokens: int) -> None:
        """Remembers the longest reply of a role and model: what the next one is expected to take."""
        with self._lock:
            self._longest[role, model] = max(self._longest.get((role, model), 0), output_tokens)

    def _entry(self, question: Question, attempt: Attempt) -> CachedCall:
        received, counts = attempt.received, attempt.received.counts
        return CachedCall(
            key=question.key,
            role=question.role,
            model=question.model,
            attempt=question.number,
            sampling=question.sampling.as_dict(),
            messages=question.messages,
            schema_sha=key_of(question.schema),
            outcome=received.outcome,
            detail=received.detail,
            content=received.content,
            input_tokens=counts.input if counts else None,
            cached_tokens=counts.cached if counts else None,
            output_tokens=counts.output if counts else None,
            charged_tokens=attempt.charged.tokens,
            usd=attempt.usd,
            charged_usd=attempt.charged.usd,
            latency_s=round(attempt.latency_s, 6),
            created_at=self.clock().isoformat(),
            line=self.line,
            cycle=self.cycle,
            run_id=self.run_id,
            answered=received.model,
            odd_usage=attempt.odd_usage,
            endpoint=self.address,
        )

    def row(
        self,
        question: Question,
        attempt: Attempt,
        status: str,
        prompt: SystemPromptText | None = None,
        *,
        reason: object = None,
    ) -> AgentCall:
        """Return the row of an attempt. prompt: the evolved system prompt that the model read. reason: why
        the reply cannot be used, if that is a text.
        """
        received, counts = attempt.received, attempt.received.counts
        return AgentCall(
            call_id=question.key,
            artifact_id=question.job.artifact_id,
            cycle=self.cycle,
            role=question.role,
            backend=self.name,
            model=question.model,
            prompt_sha=key_of(question.messages),
            response_sha=text_sha(received.content) if received.content else None,
            input_tokens=counts.input if counts else None,
            cached_tokens=counts.cached if counts else None,
            output_tokens=counts.output if counts else None,
            usd=attempt.usd,
            latency_s=round(attempt.latency_s, 6),
            attempt=question.number,
            status=status_words(
                status,
                replayed=attempt.replayed,
                usage_known=counts is not None,
                odd_usage=attempt.odd_usage,
                answered_by="" if same_model(question.model, received.model) else received.model,
            ),
            prompt_id=prompt.prompt_id if prompt else None,
            sampling=canonical_json(question.sampling.as_dict()),
            reason=one_line_reason(reason) if isinstance(reason, str) and reason else None,
        )
