"""What assets use: roles are called, rows are collected, and which backend serves is decided once, before any
work.

`open_agents` fails closed: with the model backend and no endpoint, key, model name, budget or price it raises
before a call is made. It never falls back to the other backend.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pydantic import BaseModel, SecretStr

from evolake.agents.address import address
from evolake.agents.calls import AgentCall, Usage
from evolake.agents.roles import (
    AgentFailure,
    Backend,
    Job,
    OperatorsBackend,
    Record,
    Reply,
    ReplyT,
    RequestT,
    Role,
)
from evolake.canonical_json import text_sha
from evolake.errors import InputError
from evolake.settings import Settings

if TYPE_CHECKING:
    from evolake.agents.session_tools import SessionContext


@dataclass
class _CallRecord:
    """What is known of one call. attempts: their rows so far. turns: rows, of a session. failure: of a call
    that ended without a reply."""

    call_id: str = field(default_factory=lambda: uuid4().hex)
    attempts: list[AgentCall] = field(default_factory=list[AgentCall])
    turns: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    failure: AgentFailure | None = None


class Agents:
    """Roles behind one backend, for one cycle and run. Safe under threads; a context manager that closes the
    backend."""

    def __init__(self, backend: Backend, *, line: str, cycle: str):
        self.backend = backend
        self.line, self.cycle = line, cycle
        self._lock = threading.Lock()
        # call id -> what is known of the call, in the order of the requests
        self._calls: dict[str, _CallRecord] = {}
        self._spent = Usage()

    def __enter__(self) -> Agents:
        return self

    def __exit__(self, *_: object) -> None:
        self.backend.close()

    def call(
        self,
        role: Role[RequestT, ReplyT],
        request: RequestT,
        *,
        seed: int,
        artifact_id: str | None = None,
        attempt: int = 0,
    ) -> Reply[ReplyT | AgentFailure]:
        """Ask a role once.

        Args:
            seed: of the operators' generator. A model is not sent it: to draw again from a model, raise
                `attempt`.
            artifact_id: the artifact the call is about, where it has one already; see `assign`.
            attempt: 0 for the first draw. The same request with the same attempt is the same call, and
                replays.
        """
        return self.call_many(role, [request], seeds=[seed], artifact_ids=[artifact_id], attempts=[attempt])[
            0
        ]

    def measured(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
        """Return what was measured for a prompt: as it was kept next to the call cache, else made and kept,
        so that a replay asks with the same bytes.

        None under replay only if nothing was kept, for no question could follow from it. Operators keep
        nothing. `make` gives JSON.
        """
        from evolake.agents.model import ModelBackend
        from evolake.agents.session import SessionRecords

        if not isinstance(self.backend, ModelBackend):
            return make()
        records = SessionRecords(self.backend.call_cache.root)
        if (kept := records.read(f"measured\x1f{name}")) is not None or self.backend.endpoint is None:
            return kept
        return records.write(f"measured\x1f{name}", make())

    def call_many(
        self,
        role: Role[RequestT, ReplyT],
        requests: Sequence[RequestT],
        *,
        seeds: Sequence[int],
        artifact_ids: Sequence[str | None] | None = None,
        attempts: Sequence[int] | None = None,
    ) -> list[Reply[ReplyT | AgentFailure]]:
        """Ask a role many times; replies in the order of the requests.

        A model is asked by several threads at the same time, after one call that goes ahead alone where the
        endpoint is not known yet. Operators run one after the other. When a call raises, no further one is
        started, those in flight are finished (and kept in the call cache), and the exception of the earliest
        request is raised.
        """
        names, numbers = artifact_ids or [None] * len(requests), attempts or [0] * len(requests)
        if not len(requests) == len(seeds) == len(names) == len(numbers):
            raise ValueError(
                f"{len(requests)} requests, {len(seeds)} seeds, {len(names)} artifact ids, {len(numbers)} "
                "attempts: all must be as many"
            )
        for request in requests:
            if not isinstance(request, role.request):
                raise TypeError(
                    f"role {role.name} is asked with {role.request.__name__} (got {type(request).__name__})"
                )
        jobs = [Job(role, *item) for item in zip(requests, seeds, names, numbers, strict=True)]
        calls = self._begin(len(jobs))
        work = [
            partial(self.backend.ask, job, self._recorder(call))
            for job, call in zip(jobs, calls, strict=True)
        ]
        results = _run_in_threads(
            work, alone=0 if not jobs or self.backend.warm(jobs[0]) else 1, threads=self.backend.threads
        )
        return [self._replied(call, result) for call, result in zip(calls, results, strict=True)]

    def session(
        self,
        role: Role[RequestT, Any],
        request: RequestT,
        context: SessionContext,
        *,
        seed: int,
        artifact_id: str | None = None,
        attempt: int = 0,
    ) -> Reply[BaseModel | AgentFailure]:
        """Hold a session of a role (`evolake.agents.session`): its value is what it finished with.

        The files of `context` are then what the session made of them.

        Raises:
            TypeError: the backend holds no sessions; only that of a model does. Others as `conduct`.
        """
        from evolake.agents.coding_agent import CodingAgent
        from evolake.agents.model import ModelBackend
        from evolake.agents.session import conduct

        job = Job(role, request, seed, artifact_id, attempt)
        if isinstance(self.backend, CodingAgent) and role.tools:
            [call] = self._begin(1)
            return self._replied(call, self.backend.hold(job, context, self._recorder(call)))
        if not isinstance(self.backend, ModelBackend) or not role.tools:
            raise TypeError(f"the backend {self.backend.name} holds no session of the role {role.name}")
        [call] = self._begin(1)
        result = conduct(self.backend, job, context, self._recorder(call), call.turns.append)
        return self._replied(call, result)

    def assign(self, call_id: str, artifact_id: str) -> None:
        """Name the artifact that came of a call (`Reply.call_id`): all rows of the call get its id.

        Raises:
            KeyError: these agents made no such call.
        """
        with self._lock:
            if call_id not in self._calls:
                raise KeyError(f"assign: these agents made no call {call_id!r}")
            call = self._calls[call_id]
            call.attempts = [replace(attempt, artifact_id=artifact_id) for attempt in call.attempts]
            for turn in call.turns:
                turn["artifact_id"] = artifact_id

    def __getstate__(self) -> dict[str, Any]:
        """Operators' agents travel to a worker, and back with their rows."""
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"_lock": threading.Lock()})

    def apart(self) -> Agents:
        """Return agents of the same backend with separate rows until `take_in`: for work that runs while
        other work does, and whose rows are to be in a fixed order."""
        return Agents(self.backend, line=self.line, cycle=self.cycle)

    def take_in(self, other: Agents) -> None:
        """Add the calls of `other` (see `apart`) after those that were made so far. It is done with then."""
        with self._lock, other._lock:
            self._calls |= other._calls
            self._spent += other._spent

    def rows(self, first: int = 0) -> list[dict[str, Any]]:
        """Return one row per attempt so far but the first ones, in the order of the requests: the columns of
        `agent_calls`."""
        return [call.row() | {"call_id": name} for call, name in self._named(first)]

    def count(self) -> int:
        """Return how many attempts there are so far."""
        with self._lock:
            return sum(len(call.attempts) for call in self._calls.values())

    def turns(self) -> list[dict[str, Any]]:
        """Return one row per turn of a session so far, in the order of the requests: the columns of
        `session_turns`, with `text` for its blob."""
        with self._lock:
            found = [turn for call in self._calls.values() for turn in call.turns]
        named = {call.call_id: name for call, name in self._named()} if found else {}
        return [turn | {"call_id": named[turn["call_id"]]} for turn in found]

    def _named(self, first: int = 0) -> list[tuple[AgentCall, str]]:
        """Return every attempt but the first ones, with the id of its row."""
        with self._lock:
            attempts = [attempt for call in self._calls.values() for attempt in call.attempts]
        wanted = {attempt.call_id for attempt in attempts[first:]}
        seen = Counter(attempt.call_id for attempt in attempts[:first] if attempt.call_id in wanted)
        named = []
        for attempt in attempts[first:]:
            words = (self.line, self.cycle, attempt.role, attempt.call_id, str(seen[attempt.call_id]))
            seen[attempt.call_id] += 1
            named.append((attempt, text_sha("\x1f".join(words))))
        return named

    @property
    def last_failure(self) -> str:
        """The role and the reason of the latest call without a reply; "" if every call had one."""
        with self._lock:
            last = next(
                (call.failure for call in reversed(self._calls.values()) if call.failure is not None), None
            )
        return f"{last.role}: {last.reason}" if last else ""

    @property
    def spent(self) -> Usage:
        """What the calls of this object took now: attempts, tokens, usd. Replays take nothing."""
        with self._lock:
            return self._spent

    def _begin(self, count: int) -> list[_CallRecord]:
        """Return new calls, in the order of their requests."""
        calls = [_CallRecord() for _ in range(count)]
        with self._lock:
            self._calls |= {call.call_id: call for call in calls}
        return calls

    def _replied(self, call: _CallRecord, value: Any) -> Reply[Any]:
        """Return the reply of a call; a failure is remembered."""
        if isinstance(value, AgentFailure):
            call.failure = value
        return Reply(value, call.call_id)

    def _recorder(self, call: _CallRecord) -> Record:
        def record(attempt: AgentCall, usage: Usage) -> None:
            with self._lock:
                call.attempts.append(attempt)
                self._spent += usage

        return record


def _run_in_threads(work: list[Callable[[], Any]], *, alone: int, threads: int) -> list[Any]:
    """Run all: the first `alone` one by one, the rest by at most `threads` threads; results in order."""
    if threads == 1 or len(work) == 1:
        return [item() for item in work]
    ahead = [item() for item in work[:alone]]
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="evolake-agents") as pool:
        futures = [pool.submit(item) for item in work[alone:]]
        _, waiting = wait(futures, return_when=FIRST_EXCEPTION)
        for future in waiting:
            future.cancel()
    for future in futures:
        if not future.cancelled() and (error := future.exception()) is not None:
            raise error
    return ahead + [future.result() for future in futures]


def open_agents(
    settings: Settings,
    lake_root: Path,
    cycle: str,
    run_id: str,
    *,
    line: str,
    redraw: bool = True,
    wait: Callable[[float], float] | None = None,
) -> Agents:
    """Return the agents of one cycle and run of a line.

    Args:
        line: whose budget pays, and under whose name the call cache keeps what is paid for.
        redraw: whether a call that failed in an earlier run is asked again. A study, whose failures are
            results, says no.
        wait: replaces the seconds the client wants to sleep before a retry; for tests.

    Raises:
        InputError: the model backend is asked for and something it needs is missing, a system prompt too; or
            the lake is of another format. Nothing was started.
    """
    if settings.backend == "operators":
        return Agents(OperatorsBackend(cycle), line=line, cycle=cycle)
    from evolake.agents.budget import Budget
    from evolake.agents.call_cache import CallCache
    from evolake.agents.model import ModelBackend
    from evolake.agents.sampling import sampling_of
    from evolake.agents.system_prompts import resolve
    from evolake.lake import Lake

    _check(settings)
    lake = Lake(lake_root)
    system_prompts = resolve(lake, settings.system_prompts, cycle) if settings.system_prompts else {}
    endpoint = None
    if not settings.replay_only and settings.model_base_url:
        from evolake.agents.endpoint import Endpoint

        endpoint = Endpoint(
            settings.model_base_url or "",
            _secret(settings),
            deadline_s=settings.model_timeout_s,
            retries=settings.model_max_retries,
            cache_hints=settings.model_cache_hints,
            wait=wait,
        )
    call_cache = CallCache(lake.root / "tape")
    backend = ModelBackend(
        endpoint=endpoint,
        call_cache=call_cache,
        budget=Budget(settings.budget, call_cache, line=line, cycle=cycle, run_id=run_id),
        models=settings.models,
        prices=settings.prices,
        sampling=lambda role: sampling_of(settings, role),
        repairs=settings.model_repairs,
        threads=settings.model_threads,
        line=line,
        cycle=cycle,
        run_id=run_id,
        system_prompts=system_prompts,
        strict=settings.model_strict,
        address=address(settings.model_base_url or ""),
        redraw=redraw,
        session=settings.agents.session,
    )
    if settings.agents.command:
        from evolake.agents.coding_agent import SETTING, CodingAgent, words_of
        from evolake.agents.session import SessionRecords

        words, records = words_of(settings.agents.command, SETTING), SessionRecords(call_cache.root)
        backend = CodingAgent(words, settings.agents.command_timeout_s, records, cycle, backend)
    return Agents(backend, line=line, cycle=cycle)


def check_backend(settings: Settings) -> None:
    """Raise the InputError that `open_agents` would raise for these settings; create nothing."""
    if settings.backend == "model":
        _check(settings)


def _check(settings: Settings) -> None:
    if settings.agents.command and not settings.model_base_url:
        return  # a command serves sessions; another role that is asked says that there is no endpoint
    needs = [
        (
            "a model name",
            "EVOLAKE_MODELS__DEFAULT (or one EVOLAKE_MODELS__<ROLE> a role)",
            any(settings.models.values()),
        )
    ]
    if not settings.replay_only:
        limits = settings.budget.model_dump()
        needs = [
            ("an endpoint", "EVOLAKE_MODEL_BASE_URL", bool(settings.model_base_url)),
            (
                "an API key",
                "EVOLAKE_MODEL_API_KEY (any word for a local server that needs none)",
                bool(_secret(settings)),
            ),
            *needs,
            (
                "a budget",
                f"one of {', '.join(f'EVOLAKE_BUDGET__{name.upper()}' for name in limits)}",
                any(v is not None for v in limits.values()),
            ),
        ]
    missing = [(what, how) for what, how, there in needs if not there]
    if missing:
        raise InputError(
            f"the model backend lacks {' and '.join(what for what, _ in missing)}",
            wanted="; ".join(how for _, how in missing),
            got="nothing",
            do="set what is missing, or use --backend operators",
        )
    if settings.replay_only:
        return
    address(settings.model_base_url or "")
    unpriced = sorted({model for model in settings.models.values() if model not in settings.prices})
    if unpriced and (settings.budget.usd_per_cycle is not None or settings.budget.usd_per_run is not None):
        raise InputError(
            f"a budget in usd needs the price of every model; unknown: {', '.join(unpriced)}",
            wanted=(
                f'EVOLAKE_PRICES, e.g. {{"{unpriced[0]}": {{"input": 1.25, "cached": 0.125, "output": '
                "10}} (usd per million tokens)"
            ),
            do="add the prices, or set the budget in tokens",
        )


def _secret(settings: Settings) -> str:
    key = settings.model_api_key
    return (key.get_secret_value() if isinstance(key, SecretStr) else key or "").strip()
