"""What one task costs the driver and the scheduler: tasks that take no time, on fake workers, through the
same executor as a run's.

Three processes: the driver (this one), the scheduler, and all the workers together, which do their tasks at
once in one thread. So the workers cost whatever they cost, and the processor time of the other two is that of
a cluster of so many workers on hosts of their own. The clock of a busy machine says nothing; with a core for
each process it says what a task takes. Workers that are starved for longer than Dask's heartbeats allow are
lost, which says nothing of the driver either: here nothing is timed out. `docs/scaling.md` says what follows.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bench import SHORT

from evolake.compute import trusted

PATIENT = {
    "distributed.scheduler.worker-ttl": None,
    "distributed.comm.timeouts.connect": "600s",
    "distributed.comm.timeouts.tcp": "600s",
    "distributed.worker.memory.terminate": False,
    "distributed.admin.tick.limit": "600s",
}


@trusted
def nothing(number: int) -> int:
    """Do nothing: an instantaneous task."""
    return number


class AtOnce(Executor):
    """Does a task where it is submitted: a worker without a thread of its own."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


async def schedule(pipe: Connection) -> None:
    """Run a scheduler until the pipe ends."""
    from distributed import Scheduler

    async with Scheduler(port=0, dashboard_address="", dashboard=False) as scheduler:
        pipe.send(scheduler.address)
        await report_times(pipe)


async def work(pipe: Connection) -> None:
    """As many workers as the pipe says, of the scheduler that it names, until it ends."""
    from distributed import Worker

    address, count = await asyncio.to_thread(pipe.recv)
    async with contextlib.AsyncExitStack() as stack:
        workers = [
            Worker(address, nthreads=1, memory_limit=0, dashboard=False, executor=AtOnce())
            for _ in range(count)
        ]
        await asyncio.gather(*(stack.enter_async_context(worker) for worker in workers))
        pipe.send("ready")
        await report_times(pipe)


async def report_times(pipe: Connection) -> None:
    """Send this process's processor time on each request, until one says to end."""
    while await asyncio.to_thread(pipe.recv):
        pipe.send(time.process_time())


def alone(main: Callable[[Connection], Coroutine[Any, Any, None]], pipe: Connection) -> None:
    """In a process of its own."""
    from dask import config

    logging.disable(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, config.set({"temporary-directory": folder, **PATIENT}):
        asyncio.run(main(pipe))


@contextmanager
def process(main: Callable[[Connection], Coroutine[Any, Any, None]]) -> Iterator[Connection]:
    ours, theirs = multiprocessing.Pipe()
    started = multiprocessing.get_context("spawn").Process(target=alone, args=(main, theirs))
    started.start()
    try:
        yield ours
    finally:
        ours.send(None)
        started.join(60)
        started.kill()


def measure(tasks: int, workers: int) -> dict[str, float]:
    """Seconds for all tasks: of the clock, and of the processor by the driver, the scheduler and all workers
    together."""
    from dask import config

    from evolake.compute.cluster import ClusterExecutor, connect
    from evolake.compute.opening import demand_of
    from evolake.compute.proof import PLENTY
    from evolake.settings import load

    with (
        config.set(PATIENT),
        process(schedule) as scheduler,
        process(work) as working,
        tempfile.TemporaryDirectory() as lake,
    ):
        address = scheduler.recv()
        working.send((address, workers))
        assert working.recv() == "ready"
        demand = demand_of(load(lake=Path(lake)))
        client = connect(address, 600)
        client.run(_admit, demand.resource(), PLENTY)
        executor = ClusterExecutor(client, demand, {})

        def times() -> dict[str, float]:
            for pipe in (scheduler, working):
                pipe.send("time")
            return {
                "clock": time.perf_counter(),
                "driver": time.process_time(),
                "scheduler": scheduler.recv(),
                "workers": working.recv(),
            }

        before = times()
        assert list(executor.map(nothing, range(tasks))) == list(range(tasks))
        after = times()
        assert len(client.scheduler_info(n_workers=-1)["workers"]) == workers, "a worker was lost on the way"
        executor.shutdown()
    return {name: after[name] - before[name] for name in before}


async def _admit(name: str, amount: float, dask_worker: Any = None) -> None:
    await dask_worker.set_resources(**{name: amount})


def main() -> None:
    """Print milliseconds per task."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tasks", type=int, default=500 if SHORT else 10_000)
    asked.add_argument("--workers", type=int, default=8 if SHORT else 64)
    sizes = asked.parse_args()
    each = {name: 1000 * value / sizes.tasks for name, value in measure(sizes.tasks, sizes.workers).items()}
    print(
        f"{sizes.tasks} instantaneous tasks on {sizes.workers} fake workers, each: {each['driver']:.2f} "
        f"ms of the driver's processor and {each['scheduler']:.2f} of the scheduler's (goal for each: "
        f"below 5), {each['workers']:.2f} of the workers'; {each['clock']:.2f} ms by the clock"
    )


if __name__ == "__main__":
    main()
