"""The jails of the workers, behind the interface of `evolake.jail.Pool`: a call travels to a worker that has
proved its jail, its outcome back.

Each worker keeps its jails warm for as long as it lives. What an outcome says is checked by the caller as
that of a jail of this host. What many tasks have in common is written once where every worker sees it, below
the lake's `work`, which is no data; it goes when the tasks are done, and a worker reads it once.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar, runtime_checkable

from evolake.errors import MachineryError
from evolake.jail import Call, Limits, Outcome, Pool, open_pool
from evolake.lake import disk

KEPT = 2
"""Values that a worker keeps: a run has few kinds of tasks at one time."""


@dataclass(frozen=True)
class Shared:
    """Where the value is, and the sha256 (hex) of its bytes."""

    path: Path
    sha: str

    def value(self) -> Any:
        """Read once per process; not to be changed. Raises MachineryError where this host sees other bytes,
        or none."""
        return _read(self)


@contextmanager
def shared(value: Any, folder: Path) -> Generator[Shared]:
    """`value`, pickled, for as long as the tasks need it. folder: seen by all workers under the same path."""
    data = pickle.dumps(value)
    sha = hashlib.sha256(data).hexdigest()
    disk.make_folder(folder)
    path = folder / f"{sha[:24]}.pickle"
    disk.write_atomic(path, data, tag=sha[:8])
    try:
        yield Shared(path, sha)
    finally:
        disk.discard(path)


@lru_cache(maxsize=KEPT)
def _read(where: Shared) -> Any:
    try:
        data = where.path.read_bytes()
    except OSError as error:
        raise MachineryError(
            "a worker does not see what its tasks share", wanted=str(where.path), got=str(error.strerror)
        ) from None
    if hashlib.sha256(data).hexdigest() != where.sha:
        raise MachineryError(
            "what tasks share is not what was written", wanted=where.sha[:12], got=str(where.path)
        )
    return pickle.loads(data)


_opening = threading.Lock()
Item = TypeVar("Item")
Result = TypeVar("Result")


@runtime_checkable
class Remote(Protocol):
    """An executor whose workers may be on other hosts, as `cluster.ClusterExecutor`. slots: how many tasks
    they take at one time. folder: where all of them see what tasks share."""

    @property
    def slots(self) -> int:
        """Return how many tasks may run at the same time."""
        ...

    @property
    def folder(self) -> Path:
        """Return the folder that the workers share with this process."""
        ...

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call to a worker."""
        ...


class RemotePool:
    """Calls may come from any thread; `workers` of them are served at one time. Closing it closes nothing:
    jails belong to their workers."""

    def __init__(self, executor: Remote, workers: int, preload: tuple[str, ...], mode: str):
        self.workers, self.jail = workers, mode
        self._executor, self._preload = executor, preload

    def __enter__(self) -> RemotePool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Nothing to do."""

    def call(self, driver: str, source: str, payload: Any = None, limits: Limits = Limits()) -> Outcome:
        """Do as `Pool.call`."""
        return self.run(Call(driver, source, payload, limits))

    def run(self, call: Call) -> Outcome:
        """Return `call` as one value."""
        return self._executor.submit(run_here, call, self._preload, self.jail).result()

    def map(self, calls: Iterable[Call]) -> list[Outcome]:
        """Return outcomes in the order of `calls`."""
        return [
            future.result()
            for future in [self._executor.submit(run_here, call, self._preload, self.jail) for call in calls]
        ]

    def spread(
        self, task: Callable[[Shared, Item], Result], common: Any, items: Sequence[Item]
    ) -> list[Result]:
        """Return `task(common, item)` for each item by the workers that have a jail (see `jails_here`);
        results in the order of the items."""
        with shared(common, self._executor.folder) as where:
            return [
                future.result() for future in [self._executor.submit(task, where, item) for item in items]
            ]


Jails = Pool | RemotePool
"""What runs candidates: jails of this process, or of workers. Both have `call`, `run` and `map`."""


def open_jails(executor: Executor | None, workers: int, preload: tuple[str, ...], mode: str) -> Jails:
    """Return the jails of the workers of `executor`; `workers` jails of this process where it is None or a
    pool of processes.

    Raises JailUnavailable as `evolake.jail.open_pool`.
    """
    if isinstance(executor, Remote):
        return RemotePool(executor, executor.slots, preload, mode)
    return open_pool(workers=workers, preload=preload, mode=mode, all_at_once=False)


def jails_here(preload: tuple[str, ...], mode: str) -> Pool:
    """Return the warm jails of this worker process, one per thread of it."""
    with _opening:
        return _jails(preload, mode, _threads())


def run_here(call: Call, preload: tuple[str, ...], mode: str) -> Outcome:
    """Run in a worker."""
    return jails_here(preload, mode).run(call)


@cache
def _jails(preload: tuple[str, ...], mode: str, workers: int) -> Pool:
    return open_pool(workers=workers, preload=preload, mode=mode)


def _threads() -> int:
    from distributed import get_worker

    return get_worker().state.nthreads
