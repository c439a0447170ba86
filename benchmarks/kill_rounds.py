"""Rounds of SIGKILL at every kind of process of a server that runs a real line each night; in the end, one
cycle per tick and nothing lost.

    python benchmarks/kill_rounds.py [--rounds 50] [--minutes M]

The line is programs with one small project, profile demo, a night every ten seconds. The services are those
of an unattended server, and a supervisor starts again whichever was killed (tests/toy_location/served.py). In
a round one kind dies at a random moment: the process that runs the cycle, the daemon, the code server, the
webserver, a jail with a candidate in it, or the first four at once. Then one more cycle must be sealed
without help. Exit code 1 if a cycle was lost or made twice, or if a tick has more than one run. The short
form is one round with a toy line.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import psutil
from bench import SHORT
from toy_location import served
from toy_location.served import ServedSite, after_last_run
from toy_location.site import ROOT

from evolake.lake import following
from evolake.report.health import examine, summary

LINE, PROJECT = "nightly" if SHORT else "programs", "function_minimization"
JAIL, WORKER = "jail", "worker"
KINDS = (WORKER, "daemon", "code", "webserver", JAIL, "code+daemon+webserver+worker")
PATIENCE_S = 900.0
HIT_PATIENCE_S = 60.0


@dataclass
class StruckSite(ServedSite):
    """A served site with the real definitions in the place of the toy lines, but for the short form."""

    module: str = "toy_location.nights" if SHORT else "pipelines.definitions"
    above: Path = ROOT / "tests" if SHORT else ROOT

    def prepare(self, deployment: str = "sqlite") -> None:
        """Prepare as any site, and make Dagster's databases: two processes that both find none can leave a
        home that neither can open."""
        super().prepare(deployment)
        with dg.DagsterInstance.from_config(str(self.home)):
            pass

    def seeds(self) -> None:
        """Make the line's seeds.

        Raises:
            RuntimeError: they were not sealed.
        """
        own = ["--definitions", "toy_location.definitions"] if SHORT else []
        command = [sys.executable, "-m", "pipelines.evolve", *own, "--lines", LINE, "--cycles", "0"]
        done = subprocess.run(
            command, env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stderr)

    def jails(self) -> list[int]:
        """Return the processes that are a jail of a run that is active."""
        result: list[int] = []
        for worker in self.workers():
            with contextlib.suppress(psutil.Error):
                result += [
                    child.pid
                    for child in psutil.Process(worker).children(recursive=True)
                    if child.name() == "bwrap"
                ]
        return result

    def strike(self, kind: str) -> str:
        """Kill processes of one kind and return what was hit, in words.

        The process of a run is waited for, because after its run has ended it still takes seconds to exit,
        and a jail, because a cycle has one for a moment only.
        """
        self.wait(
            "the UI to answer", self.answers, PATIENCE_S
        )  # which is asked for runs, and may have been killed in the round before
        end = time.monotonic() + HIT_PATIENCE_S
        while kind == WORKER and not self.started() and time.monotonic() < end:
            time.sleep(0.2)
        if kind != JAIL:
            active = "a run active" if self.started() else "between cycles"
            self.kill(kind.split("+"))
            return active
        while time.monotonic() < end:
            for pid in self.jails():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    return "a run active"
            time.sleep(0.01)
        return "no jail was met"

    def started(self) -> bool:
        """Return whether a run has started, and has a process."""
        return any(run.status == "STARTED" for run in self.runs()) and bool(self.workers())


def main() -> int:
    """Run the rounds and print one line for each, then the sums."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=1 if SHORT else 50)
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no further round after so many minutes"
    )
    parser.add_argument("--seed", type=int, default=14)
    given = parser.parse_args()
    served.LINE = LINE
    drawn, hits, seconds = random.Random(given.seed), Counter[tuple[str, str]](), list[float]()
    with tempfile.TemporaryDirectory(prefix="evolake-rounds-") as folder:
        environment = {
            "EVOLAKE_PROFILE": "demo",
            "EVOLAKE_PROGRAMS__PROJECTS": str(ROOT / "examples" / "programs" / PROJECT),
        }
        site = StruckSite(Path(folder) / "site", environment)
        site.prepare()
        try:
            site.seeds()
            site.start()
            if not SHORT:
                site.goes_on(PATIENCE_S)
            end = time.monotonic() + 60 * given.minutes
            for number in range(1, given.rounds + 1):
                if time.monotonic() > end:
                    break
                kind = KINDS[(number - 1) % len(KINDS)]
                time.sleep(0 if SHORT else drawn.uniform(0, 2 * served.NIGHT_S))
                when, began = site.strike(kind), time.monotonic()
                site.revive()
                site.goes_on(PATIENCE_S)
                seconds.append(time.monotonic() - began)
                hits[kind, when] += 1
                print(f"round {number}: {kind}, {when}; one more cycle after {seconds[-1]:.0f} s", flush=True)
            site.wait("the UI to answer", site.answers, PATIENCE_S)
            faults = counted(site)
        finally:
            site.stop()
    for (kind, when), count in sorted(hits.items()):
        print(f"{kind:<30} {when:<16} {count}")
    print(
        f"{len(seconds)} rounds; one more cycle after {statistics.median(seconds):.0f} s at the median, "
        f"{max(seconds):.0f} s at most"
    )
    print("\n".join(faults) or "nothing lost, nothing doubled")
    return int(bool(faults))


def counted(site: StruckSite) -> list[str]:
    """Print how many ticks, runs and cycles there were; return what is wrong, in sentences."""
    ticks, runs = after_last_run(site)
    asked = [run for tick in ticks for run in tick["runIds"]]
    cycles = site.lake.seals.cycles(LINE)
    done = Counter(run.cycle for run in runs if run.status == "SUCCESS")
    ended = Counter(run.status for run in runs)
    skipped = sum(tick["status"] == "SKIPPED" for tick in ticks)
    print(
        f"{len(ticks)} ticks, {skipped} of them skipped; {len(runs)} runs ({dict(ended)}); "
        f"{len(cycles) - 1} cycles sealed"
    )
    faults = []
    if max((len(tick["runIds"]) for tick in ticks), default=0) > 1 or len(asked) != len(set(asked)):
        faults.append("a tick has more than one run, or a run more than one tick")
    if cycles != [f"{number:04}" for number in range(1, len(cycles) + 1)]:
        faults.append(f"the cycles are not those from 0001 on: {cycles}")
    if twice := [cycle for cycle, count in done.items() if count > 1]:
        faults.append(f"cycles that two runs finished: {twice}")
    if broken := [cycle for cycle in cycles[:-1] if site.lake.seals.broken_link(LINE, following(cycle))]:
        faults.append(f"cycles that do not stand on the one before: {broken}")
    if report := summary(examine(site.lake.root)):
        faults.append(f"the lake is not as it was written: {report}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
