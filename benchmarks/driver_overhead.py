"""What one task costs the driver: tasks that take no time, on fake workers, through the same executor as a run's.

Worker processes would compete with the driver for a small machine, so the workers are Dask workers in one other process; what is measured is what
the driver's and the scheduler's side take per task: wall time and processor time. `docs/scaling.md` says what follows from it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from evolake.compute import trusted


@trusted
def nothing(number: int) -> int:
    """An instantaneous task."""
    return number


def serve(pipe: Connection, workers: int) -> None:
    """In a process of its own: a scheduler and its workers, until the pipe says so."""
    from distributed import Scheduler, Worker

    async def run() -> None:
        async with contextlib.AsyncExitStack() as stack:
            scheduler = await stack.enter_async_context(Scheduler(port=0, dashboard_address="", dashboard=False))
            for _ in range(workers):
                await stack.enter_async_context(Worker(scheduler.address, nthreads=1, memory_limit=0, dashboard=False))
            pipe.send(scheduler.address)
            await asyncio.to_thread(pipe.recv)

    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        from dask import config

        quiet = {"temporary-directory": folder, "distributed.scheduler.worker-ttl": None, "distributed.worker.memory.terminate": False}
        with config.set(quiet):
            asyncio.run(run())


def measure(tasks: int, workers: int) -> dict[str, float]:
    """Seconds of the clock and of this process's processor, for all tasks."""
    from evolake.compute.cluster import ClusterExecutor, connect
    from evolake.compute.opening import demand_of
    from evolake.compute.proof import PLENTY
    from evolake.settings import load

    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, workers))
    server.start()
    try:
        with tempfile.TemporaryDirectory() as lake:
            demand = demand_of(load(lake=Path(lake)))
            client = connect(ours.recv(), 60)
            client.run(_admit, demand.resource(), PLENTY)
            executor = ClusterExecutor(client, demand, {})
            begun, spent = time.perf_counter(), time.process_time()
            assert list(executor.map(nothing, range(tasks))) == list(range(tasks))
            found = {"wall_s": time.perf_counter() - begun, "cpu_s": time.process_time() - spent}
            executor.shutdown()
    finally:
        ours.send("end")
        server.join()
    return found


async def _admit(name: str, amount: float, dask_worker=None) -> None:
    await dask_worker.set_resources(**{name: amount})


def main() -> None:
    """Print milliseconds per task."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tasks", type=int, default=1_000)
    asked.add_argument("--workers", type=int, default=16)
    sizes = asked.parse_args()
    found = measure(sizes.tasks, sizes.workers)
    each = {name: 1000 * value / sizes.tasks for name, value in found.items()}
    print(f"{sizes.tasks} instantaneous tasks on {sizes.workers} fake workers: {each['wall_s']:.2f} ms each by the clock,"
          f" {each['cpu_s']:.2f} ms of the driver's processor (goal: below 5)")


if __name__ == "__main__":
    main()
