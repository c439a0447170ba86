"""What a role is, and what a call of one gives back.

A role is a pair of Pydantic models (request, reply) and one function, the classical operators. Both backends
serve every role: `operators` calls the function, `model` renders the role's prompt and validates what a model
answers. The caller of a role cannot see which backend served it, except by the rows.

A role is defined in the module of its operators, with its request and reply (in `models` if several share
them) and its prompt file `evolake/<line>/messages/<name>.md`; `roles_in` finds it. Its name is also the key
under which a model may be chosen for it (`EVOLAKE_MODELS__SOLVERS_CODER`). Fields that only the operators use
are not among a prompt's values.

A reply that never fits is a value, `AgentFailure`, and not an exception: it says something about the model or
the candidate, not about our machinery.

The seam: what a backend is, and the one that needs no model.

A backend answers a job and records a row for every attempt it made, as soon as it was made, so that an
exception later loses no row. Both backends pass the same conformance kit (`tests/agent_backend_fixtures.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from pydantic import BaseModel

from evolake.agents.calls import AgentCall, Usage
from evolake.canonical_json import key_of
from evolake.errors import MachineryError
from evolake.lines import modules_of

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)
ValueT = TypeVar("ValueT", covariant=True)
OtherT = TypeVar("OtherT")


@dataclass(frozen=True)
class Role(Generic[RequestT, ReplyT]):
    """One thing an agent is asked to do.

    Attributes:
        name: lower-case name, e.g. `planner`; also the key of `settings.models` and the `role` of every row.
        request, reply: the Pydantic models of what is asked and what comes back.
        operators: the classical answer, a pure function of the request and the generator. An exception in it
            is ours and propagates.
        prompt: name of the prompt file, without `.md`, in `evolake/<line>/messages/`, or the path of a file
            elsewhere; empty means `name`.
        values: the values of the prompt's placeholders; None means every field of the request under its own
            name.
        tools: of a role that is a session (`evolake.agents.session`): what a turn may call, each with name,
            description and parameters.
        fault: what is wrong with a reply that fits its model, e.g. an edit that does not apply; "" if nothing
            is. A model is then asked once more, with these words. It must depend on request and reply alone,
            so that a replay judges the same.
    """

    name: str
    request: type[RequestT]
    reply: type[ReplyT]
    operators: Callable[[RequestT, np.random.Generator], ReplyT]
    prompt: str | Path = ""
    values: Callable[[RequestT], Mapping[str, Any]] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    fault: Callable[[RequestT, ReplyT], str] | None = None

    def prompt_values(self, request: RequestT) -> Mapping[str, Any]:
        """Return placeholder -> value for one request."""
        if self.values is not None:
            return self.values(request)
        return request.model_dump(mode="json")


@dataclass(frozen=True)
class AgentFailure:
    """A call that gave no usable reply, after every repair attempt. A value: the caller records it and
    continues.

    Attributes:
        role: the role that was asked.
        status: why the last attempt failed, as in the rows: truncated, refused, empty, garbled, invalid,
            unusable, too_large or rejected.
        reason: one line for a person.
        attempts: how many attempts were made or replayed.
    """

    role: str
    status: str
    reason: str
    attempts: int


@dataclass(frozen=True)
class Reply(Generic[ValueT]):
    """What one call returned, and the name of the call.

    Attributes:
        value: the role's reply, or an `AgentFailure`.
        call_id: the name of the call for `Agents.assign`. Every call has its own, even if two return the same
            object. It is never stored.
    """

    value: ValueT
    call_id: str

    def with_value(self, value: OtherT) -> Reply[OtherT]:
        """Return the same call with another value, e.g. the candidate that was read from the reply."""
        return Reply(value, self.call_id)


@dataclass(frozen=True)
class Job(Generic[RequestT, ReplyT]):
    """One call as a backend sees it."""

    role: Role[RequestT, ReplyT]
    request: RequestT
    seed: int
    artifact_id: str | None = None
    attempt: int = 0

    def fault(self, reply: Any) -> str:
        """Return what is wrong with a reply that fits its model, in words for the model; "" if nothing is."""
        return self.role.fault(self.request, reply) if self.role.fault else ""


def hide(*fields: str) -> Callable[[BaseModel], dict[str, Any]]:
    """For `Role.values`: every field of the request but these, which only the operators read."""

    def values(request: BaseModel) -> dict[str, Any]:
        return request.model_dump(mode="json", exclude=set(fields))

    return values


def roles_in(package: str) -> tuple[Role[Any, Any], ...]:
    """Return every role that a module of a package makes, by name."""
    roles = {
        role.name: role
        for module in modules_of(package).values()
        for role in vars(module).values()
        if isinstance(role, Role)
    }
    return tuple(roles[name] for name in sorted(roles))


Record = Callable[[AgentCall, Usage], None]


class Backend(Protocol):
    """Serves roles. `name` is what the rows say; `threads` how many jobs may run at the same time (1:
    strictly in order)."""

    name: str
    threads: int

    def ask(self, job: Job[Any, Any], record: Record) -> BaseModel | AgentFailure:
        """Return the reply to one job, or why there is none. Every attempt is recorded with what it took from
        the budget."""
        ...

    def warm(self, job: Job[Any, Any]) -> bool:
        """Return whether jobs like this may run side by side now; False asks for one to go ahead alone."""
        ...

    def close(self) -> None:
        """Give back what the backend holds."""
        ...


class OperatorsBackend:
    """Classical operators: seeded, deterministic, free. The default, and the control arm a model has to
    beat."""

    name = "operators"
    threads = 1

    def __init__(self, cycle: str):
        self._cycle = cycle

    def ask(self, job: Job[Any, Any], record: Record) -> BaseModel:
        """Call the role's function with a generator of the job's seed.

        Raises:
            MachineryError: the function gave something other than the role's reply. Its own exceptions pass
                as they are.
        """
        reply = job.role.operators(job.request, np.random.Generator(np.random.PCG64(job.seed)))
        if not isinstance(reply, job.role.reply):
            raise MachineryError(
                f"operators of role {job.role.name} gave the wrong thing",
                wanted=job.role.reply.__name__,
                got=type(reply).__name__,
            )
        prompt_sha = key_of({"request": job.request.model_dump(mode="json"), "seed": job.seed})
        record(
            AgentCall(
                call_id=prompt_sha,
                artifact_id=job.artifact_id,
                cycle=self._cycle,
                role=job.role.name,
                backend=self.name,
                model=self.name,
                prompt_sha=prompt_sha,
                response_sha=key_of(reply.model_dump(mode="json")),
                input_tokens=0,
                cached_tokens=0,
                output_tokens=0,
                usd=0.0,
                latency_s=0.0,
                attempt=10 * job.attempt,
                status="ok",
            ),
            Usage(1, 0, 0.0),
        )
        return reply

    def warm(self, job: Job[Any, Any]) -> bool:
        """Return True: there is nothing to find out first."""
        return True

    def close(self) -> None:
        """Nothing is held."""
