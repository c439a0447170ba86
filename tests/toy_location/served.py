"""A site as on a server: code server, daemon and webserver are processes of their own under a supervisor,
which starts again whichever was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from toy_location.site import LOCATION, Run, Site

from evolake.lake import following
from evolake.report.health import examine, summary

NIGHT_S = 10.0
"""A night of these sites falls every ten seconds."""
LINE = "nightly"


@dataclass
class ServedSite(Site):
    """`served`: service -> its process, the newest. Where a worker is among the killed, so are those whose
    code server was killed before."""

    module: str = "toy_location.nights"
    served: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def prepare(self, deployment: str = "sqlite") -> None:
        super().prepare(deployment)
        self.environment |= {
            "EVOLAKE_NIGHTLY_CRON": "* * * * *",
            "EVOLAKE_TOY_MINUTE_S": str(NIGHT_S),
            "EVOLAKE_TOY_SINCE": str(time.time()),
        }

    def commands(self) -> dict[str, Sequence[str]]:
        """Service -> the command that it is started by."""
        workspace = ["-w", str(self.folder / "workspace.yaml")]
        location = ["-m", self.module, "-d", str(self.above), "--location-name", LOCATION]
        return {
            "code": [
                sys.executable,
                "-m",
                "dagster",
                "api",
                "grpc",
                "-h",
                "127.0.0.1",
                "-p",
                str(self.code_port),
                *location,
            ],
            "daemon": [sys.executable, str(Path(__file__).parent / "fast_daemon.py"), "run", *workspace],
            "webserver": [
                sys.executable,
                "-m",
                "dagster_webserver",
                "-h",
                "127.0.0.1",
                "-p",
                str(self.port),
                *workspace,
            ],
        }

    def start(self) -> None:
        """Start the services and switch the night on."""
        for name in ("code", "webserver"):
            self.serve(name)
        self.wait("the code location to load", self.answers, 300)
        self.serve("daemon")
        self.start_schedule(f"{LINE}_nightly")

    def kill(self, names: Sequence[str]) -> None:
        """SIGKILL, at once, some of the services and, by the name `worker`, every process that runs a
        cycle."""
        services = [self.served[name] for name in names if name != "worker"]
        for pid in [*(service.pid for service in services), *(self.workers() if "worker" in names else ())]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for service in services:
            service.wait()

    def workers(self) -> list[int]:
        """Processes that run a cycle or are about to: the children of the code server, and the groups of
        those that were killed."""
        groups = {process.pid for process in self.processes}
        result = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                if os.getpgid(
                    process.pid
                ) in groups and "multiprocessing.spawn import spawn_main" in " ".join(process.cmdline()):
                    result.append(process.pid)
        return result

    def revive(self) -> list[str]:
        """Start again what was killed, as a supervisor does; gives its names."""
        dead = [name for name, process in self.served.items() if process.poll() is not None]
        for name in dead:
            self.serve(name)
        return dead

    def sealed(self) -> int:
        """How many populations of the line are sealed, that of the seeds included."""
        return len(self.lake.seals.cycles(LINE))

    def goes_on(self, seconds: float) -> None:
        """Wait until one more cycle is sealed, by itself."""
        before = self.sealed()
        self.wait(f"the cycle after {before - 1}", lambda: self.sealed() > before, seconds)

    def serve(self, name: str) -> None:
        """Start one service."""
        self._spawn(name, self.commands()[name])
        self.served[name] = self.processes[-1]


@contextlib.contextmanager
def served_site(folder: Path, deployment: str = "sqlite", **environment: str) -> Iterator[ServedSite]:
    """A served site with sealed seeds, its night switched on; stopped on leaving."""
    site = ServedSite(folder, dict(environment))
    site.prepare(deployment)
    try:
        assert site.evolve(LINE, 0)["verdict"] == "sealed"
        site.start()
        yield site
    finally:
        site.stop()


def after_last_run(site: ServedSite) -> tuple[list[dict], list[Run]]:
    """Ticks and runs once no run is under way any more."""
    site.stop_schedule(f"{LINE}_nightly")
    site.wait(
        "the last run to end",
        lambda: not [run for run in site.runs() if run.status not in ("SUCCESS", "FAILURE", "CANCELED")],
        240,
    )
    return site.ticks(f"{LINE}_nightly"), site.runs({"key": "evolake/started_by", "value": "nightly"})


def assert_nothing_lost_or_doubled(site: ServedSite) -> None:
    """One run per tick at most and one success per cycle; each cycle stands on the one before; every skip has
    its sentence; the lake is as it was written and no lock's file is left behind. A tick that was cut off,
    and followed by the next before it could be resumed, does not name its run."""
    ticks, runs = after_last_run(site)
    asked = [run for tick in ticks for run in tick["runIds"]]
    assert len(asked) == len(set(asked)) and max(len(tick["runIds"]) for tick in ticks) == 1
    unnamed = {run.run_id for run in runs} - set(asked)
    assert set(asked) <= {run.run_id for run in runs} and len(unnamed) <= len(
        [tick for tick in ticks if tick["status"] in ("STARTED", "FAILURE")]
    )
    assert all(tick["skipReason"] for tick in ticks if tick["status"] == "SKIPPED")
    cycles = site.lake.seals.cycles(LINE)
    assert cycles == [f"{number:04}" for number in range(1, len(cycles) + 1)]
    done = [run.cycle for run in runs if run.status == "SUCCESS"]
    assert len(done) == len(set(done)) and set(done) <= set(cycles)
    assert site.members(LINE, cycles[-1]) == ["seed" + "".join(f">{cycle}" for cycle in cycles[:-1])]
    for cycle in cycles[:-1]:
        assert site.lake.seals.broken_link(LINE, following(cycle)) is None
    assert not summary(examine(site.lake.root))
    site.wait("the files of locks to be swept", lambda: not site.lake.run_locks.all_seen(), 120)
