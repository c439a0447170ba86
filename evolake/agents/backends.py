"""The seam: what a backend is, and the one that needs no model.

A backend answers a job and records a row for every attempt it made, as soon as it was made, so that an
exception later loses no row. Both backends pass the same conformance kit (`tests/agent_backend_fixtures.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from pydantic import BaseModel

from evolake.agents.calls import AgentCall, Usage
from evolake.agents.roles import AgentFailure, Job
from evolake.canonical_json import key_of
from evolake.errors import MachineryError

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
