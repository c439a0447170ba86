"""The workers of a Dask cluster as a `concurrent.futures.Executor`.

Dask sends a task whose worker died to another one, up to the scheduler's `allowed-failures` (3) deaths;
results of a dead worker that were not fetched yet are computed again. A task travels as one pickle, so what
Dask could read into its arguments does not matter.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future
from functools import partial
from pathlib import Path
from typing import Any, cast

from distributed import Client
from distributed.scheduler import KilledWorker, NoValidWorkerError

from evolake.compute.local import ComputeUnavailable, WorkersLost
from evolake.compute.needs import Needs, needs_of
from evolake.compute.proof import Admission, Demand, Proof, shown
from evolake.errors import InputError

FIRST_WORKER_S = 60.0
SHARED = ("work", "compute")
DOCTOR = "run `evolake doctor`, which lists the workers"


class ClusterExecutor(Executor):
    """Proved workers of one scheduler. Made by `admit`; `shutdown` leaves a cluster that others started as it
    is."""

    def __init__(
        self,
        client: Client,
        demand: Demand,
        proofs: Mapping[str, Proof],
        close: Callable[[], None] = lambda: None,
    ):
        self.client, self.demand, self.proofs, self._close = client, demand, proofs, close
        self._senders: dict[tuple[tuple[str, float], ...], Executor] = {}

    @property
    def slots(self) -> int:
        """Tasks that the workers that were there at the start take at one time."""
        return sum(proof.threads for proof in self.proofs.values() if not proof.problems)

    @property
    def folder(self) -> Path:
        """In the lake, for what tasks share."""
        return Path(self.demand.lake, *SHARED)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return a task for a worker that has what `fn` needs (see `needs`).

        The future raises what `fn` raises, or WorkersLost where worker after worker died of it, or the
        scheduler is gone.
        """
        outer: Future[Any] = Future()
        sender = self._sender(needs_of(fn, args))
        inner = sender.submit(_called, pickle.dumps((fn, args, kwargs)), self.demand.environment)
        outer.add_done_callback(partial(_cancel, inner))
        inner.add_done_callback(partial(_copy_outcome, outer))
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down the threads that send tasks, and close the client."""
        for sender in self._senders.values():
            sender.shutdown(wait=wait and not cancel_futures)
        self._senders.clear()
        self.client.close()
        self._close()

    def _sender(self, wanted: Needs) -> Executor:
        """Return the way to the workers that have all of it; one for each kind of task."""
        key = tuple(sorted(wanted.items()))
        if key not in self._senders:
            resources = {self.demand.resource(): 1.0} | {
                self.demand.resource(name): amount for name, amount in key
            }
            self._senders[key] = self.client.get_executor(resources=resources, pure=False)
        return self._senders[key]


def admit(client: Client, demand: Demand, close: Callable[[], None] = lambda: None) -> ClusterExecutor:
    """Let the workers of `client` prove themselves; return the executor of those that have.

    Raises:
        ComputeUnavailable: no worker came, or one is of another version or sees another lake, or none has a
            jail. Nothing was computed.
    """
    proofs = ask(client, demand)
    strangers = [
        f"{address} ({proof.host}): {'; '.join(proof.problems)}"
        for address, proof in proofs.items()
        if proof.problems
    ]
    if strangers:
        raise ComputeUnavailable(
            f"{len(strangers)} of {len(proofs)} workers are not of this evolake and this lake",
            wanted="the same code, versions and lake everywhere",
            got="\n    ".join(strangers),
            do="start them from the same installation and folder, or stop them",
        )
    if all(proof.no_jail for proof in proofs.values()):
        got = "; ".join(sorted({f"{proof.host}: {proof.no_jail}" for proof in proofs.values()}))
        raise ComputeUnavailable("no worker has a jail, so generated code is not run", got=got, do=DOCTOR)
    return ClusterExecutor(client, demand, proofs, close)


def ask(client: Client, demand: Demand) -> dict[str, Proof]:
    """Return address of each worker -> its proof. Raises ComputeUnavailable if there is no worker, or one
    cannot even be asked."""
    name = demand.resource()
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_S)
        client.register_plugin(Admission(demand), name=name)
        result = cast("dict[str, Proof | None]", client.run(shown, name))
    except TimeoutError:
        raise ComputeUnavailable(
            "the scheduler has no worker",
            wanted="at least one",
            do="start one: dask worker ADDRESS --nthreads 1",
        ) from None
    except Exception as error:  # whatever a stranger's process makes of ours
        wanted = "workers started from this installation"
        got = f"{type(error).__name__}: {error}"
        raise ComputeUnavailable(
            "a worker cannot be asked to prove itself", wanted=wanted, got=got, do=DOCTOR
        ) from error
    return {address: proof for address, proof in sorted(result.items()) if proof is not None}


def connect(address: str, timeout_s: float = 10.0) -> Client:
    """Return a client of the scheduler at `address`. Raises InputError if none answers."""
    try:
        return Client(address, timeout=timeout_s, name="evolake")
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address}",
            wanted="a scheduler that this host reaches",
            got=f"{type(error).__name__}: {error}",
            do="start it (dask scheduler), or fix EVOLAKE_COMPUTE",
        ) from None


def _called(task: bytes, environment: Mapping[str, str]) -> Any:
    """Run in a worker, under the settings of the run whose task it is."""
    os.environ.update(environment)
    function, arguments, named = pickle.loads(task)
    return function(*arguments, **named)


def _cancel(inner: Future[Any], outer: Future[Any]) -> None:
    if outer.cancelled():
        inner.cancel()


def _copy_outcome(outer: Future[Any], inner: Future[Any]) -> None:
    """Store the outcome of a task, in evolake's words."""
    if not outer.set_running_or_notify_cancel():
        return
    if inner.cancelled():
        error: BaseException | None = CancelledError("the scheduler has dropped it")
    else:
        error = inner.exception()
    if isinstance(error, KilledWorker | NoValidWorkerError | CancelledError):
        error = WorkersLost(
            "a task found no worker that lived to finish it",
            got=str(error),
            do="look for a lack of memory in the workers' logs",
        )
    if error is None:
        outer.set_result(inner.result())
    else:
        outer.set_exception(error)
