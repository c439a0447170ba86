"""A real Dask cluster for tests: a scheduler and workers, each a process of its own that a test may kill."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client

TESTS = Path(__file__).parent
QUIET = {"DASK_LOGGING__DISTRIBUTED": "error", "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
"""One death of a worker is forgiven, so that no test waits for four."""

GRACE_S = 5.0


@dataclass
class Cluster:
    """A running scheduler. before: what each command begins with, such as another network's name."""

    folder: Path
    address: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_scheduler(self, host: str = "127.0.0.1", before: Sequence[str] = ()) -> None:
        """Starts it and waits for its address."""
        file = self.folder / "scheduler.json"
        self._start(
            [
                *before,
                *_dask("scheduler"),
                "--host",
                host,
                "--port",
                "0",
                "--no-dashboard",
                "--scheduler-file",
                str(file),
            ]
        )
        while self.processes[-1].poll() is None:
            with suppress(OSError, ValueError):
                self.address = json.loads(file.read_text())["address"]
                return
            with suppress(subprocess.TimeoutExpired):
                self.processes[-1].wait(0.1)
        raise AssertionError((self.folder / "log-0").read_text())

    def start_worker(
        self,
        before: Sequence[str] = (),
        *,
        nanny: bool = True,
        environment: dict[str, str] | None = None,
        host: str = "",
    ) -> None:
        """Starts one with one thread; the scheduler says when it is there."""
        options = [
            "--nthreads",
            "1",
            "--memory-limit",
            "0",
            "--local-directory",
            str(self.folder),
            "--no-dashboard",
        ]
        options += ["--nanny" if nanny else "--no-nanny", *(["--host", host] if host else [])]
        self._start([*before, *_dask("worker"), self.address, *options], environment)

    def stop(self) -> None:
        """Ends what was started, newest first. A worker that holds a task which it may not run does not end
        by itself."""
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()

    def _start(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        with (self.folder / f"log-{len(self.processes)}").open("wb") as log:
            self.processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, env=_environment() | (environment or {}))
            )


@contextmanager
def running(folder: Path, workers: int = 2, **options: bool) -> Iterator[Cluster]:
    """A cluster on this machine."""
    cluster = Cluster(folder)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker(**options)
        with Client(cluster.address, timeout=60) as client:
            client.wait_for_workers(workers, timeout=120)
        yield cluster
    finally:
        cluster.stop()


def _dask(what: str) -> list[str]:
    return [sys.executable, "-m", f"distributed.cli.dask_{what}"]


def _environment() -> dict[str, str]:
    return (
        os.environ
        | QUIET
        | {"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])}
    )
