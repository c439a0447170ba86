"""Print the processor time of a cycle by part: imports, definitions, checks, figures, writing, the rest; and
of what it starts, by kind.

    python benchmarks/process_cost.py [--lines designs,families,solvers] [--profile demo] [--packages] [--json]

Each line runs its seeds and one cycle in a fresh lake, in one process, as `evolake run --lines LINE --cycles
1` does. That process measures itself: an import counts where it begins, with all that it imports, and nowhere
else. Counted is the processor time (user and system), so that other work on the machine matters little.
"written" is parts and seals of the lake; "rest" is what the candidates' work and Dagster take in the process
itself.

The processes that it starts are looked at every 50 ms: how many of each kind, and the processor time that
each had taken when it was seen last. "short-lived" is what those took that were never seen: the forks of the
jails, which are candidates' work, and the shortest programs. Engines of designs are forked by a server, so
each of them begins with what the server has imported. What a kind takes before its first task, times how many
there were, is "starting"; all else of these processes is candidates' work. "overhead", what a cycle takes
beyond the work of its candidates, is imports, definitions, checks, figures, written and starting; the rest of
the process is not split.
"""  # noqa: E501

from __future__ import annotations

import builtins
import contextlib
import ctypes
import functools
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from bench import SHORT

ROOT = Path(__file__).parents[1]
PROBE = "--measure-into"
PARTS = ("imports", "definitions", "checks", "figures", "written", "rest", "children", "starting", "overhead")
OVERHEAD = ("imports", "definitions", "checks", "figures", "written", "starting")
LOOK_S = 0.05
PR_SET_CHILD_SUBREAPER = 36
FORKS = {"jails": "candidates in jails", "server of engines": "engines of designs"}
"""Kind -> what the processes are that one of it forks: their command line is its own."""
KINDS = {
    "evolake.designs.engines.fork_server": "server of engines",
    "evolake.jail.inside.server": "jails",
    "multiprocessing.spawn": "workers",
    "multiprocessing.resource_tracker": "workers' trackers",
    "cc1": "compilers",
}
"""Words of a command line -> the kind of its process; others are called by their module's or their program's
name."""
STARTS = {
    "server of engines": "import evolake.designs.engines.fork_server as server; server._warm()",
    "workers": "import evolake.compute.local",
    "jails": "import evolake.jail.inside.server",
}
"""Kind -> what each process of it imports before its first task. Jails import besides what their line wants,
see `JAILS`."""
JAILS = {"designs": "import torch, numpy, evolake.designs.tracing.preload"}


class Meter:
    """Seconds of processor time by part. What is measured inside of something that is measured is not counted
    twice."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.packages: defaultdict[str, float] = defaultdict(float)
        self._local = threading.local()

    def measured(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function`, whose calls count as `part`."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            inside = getattr(self._local, "inside", 0.0)
            self._local.inside, began = 0.0, time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                took = time.thread_time() - began
                self.seconds[part] += took - self._local.inside
                self._local.inside = inside + took

        return call

    def importing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return an import function. Only what begins an import is counted, for its package."""

        def load(name: str, *args: Any, **kwargs: Any) -> Any:
            if getattr(self._local, "importing", False):
                return function(name, *args, **kwargs)
            modules = len(sys.modules)
            inside = getattr(self._local, "inside", 0.0)
            self._local.importing, self._local.inside, began = True, 0.0, time.thread_time()
            try:
                return function(name, *args, **kwargs)
            finally:
                took = time.thread_time() - began
                if len(sys.modules) == modules:
                    took = self._local.inside = 0.0
                self.seconds["definitions" if name == "pipelines.definitions" else "imports"] += (
                    took - self._local.inside
                )
                self.packages[name] += took
                self._local.importing, self._local.inside = False, inside + took

        return load


@functools.cache
def cost_of_start(program: str) -> float:
    """Return the processor seconds of a fresh interpreter that runs `program`, its end left out: the least of
    three."""
    text = f"import time; {program}; print(time.process_time())"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return min(
        float(subprocess.check_output([sys.executable, "-c", text], cwd=ROOT, env=environment))
        for _ in range(3)
    )


class Tree:
    """The processes below one, as they are seen. This process must be the subreaper, so that none of them
    gets away."""

    def __init__(self) -> None:
        self.commands: dict[tuple[int, int], str] = {}
        self.ticks: dict[tuple[int, int], int] = {}
        self.parents: dict[tuple[int, int], str] = {}
        """The command lines of the processes that they were first seen below."""

    def look(self, root: int) -> None:
        """Note what each process below `root` has taken by now. A process is known by its number and the
        moment of its start."""
        stats: dict[int, tuple[int, int, int]] = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                stats[int(entry.name)] = int(fields[1]), int(fields[11]) + int(fields[12]), int(fields[19])
        for pid, (parent, ticks, started) in stats.items():
            above = parent
            while above in stats and above not in (root, os.getpid()):
                above = stats[above][0]
            if above not in (root, os.getpid()) or pid == root:
                continue
            if parent == os.getpid():  # its own parent is gone: nobody else will ask how it ended
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            key = pid, started
            self.ticks[key] = max(ticks, self.ticks.get(key, 0))
            try:
                words = (
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
            except OSError:
                continue
            if words:
                self.commands[key] = words
                above = next((known for (number, _), known in self.commands.items() if number == parent), "")
                self.parents.setdefault(key, above)

    def kinds(self) -> dict[str, tuple[int, float]]:
        """Return kind -> (processes, processor seconds), the costliest first."""
        count, seconds = Counter[str](), defaultdict[str, float](float)
        for key in self.commands:
            kind = self._kind(key)
            count[kind] += 1
            seconds[kind] += self.ticks[key] / os.sysconf("SC_CLK_TCK")
        return {
            kind: (count[kind], taken) for kind, taken in sorted(seconds.items(), key=lambda item: -item[1])
        }

    def _kind(self, key: tuple[int, int]) -> str:
        kind = _named(self.commands[key])
        return FORKS[kind] if kind in FORKS and kind == _named(self.parents[key]) else kind


def _named(words: str) -> str:
    program, module = Path(words.split()[0]).name if words else "", words.partition(" -m ")[2].split()
    if program == "bwrap":  # the command that it starts stands in its own
        return "bubblewrap"
    return next((name for part, name in KINDS.items() if part in words), module[0] if module else program)


def measure(into: Path, arguments: list[str]) -> int:
    """Run `pipelines.evolve` in this process and write what it cost."""
    meter, at_start = Meter(), time.process_time()
    builtins.__import__ = meter.importing(builtins.__import__)
    importlib.import_module = meter.importing(importlib.import_module)
    from evolake.project import enter

    enter()
    import assets.checks
    import evolake.report.figures
    from evolake.lake.publish import Publisher
    from evolake.lake.seals import Seals
    from pipelines.evolve import entry

    for written, name in ((Publisher, "publish"), (Seals, "seal")):
        setattr(written, name, meter.measured("written", getattr(written, name)))
    assets.checks.judge = meter.measured("checks", assets.checks.judge)
    evolake.report.figures.draw_figures = meter.measured("figures", evolake.report.figures.draw_figures)
    code = entry(arguments)
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    parts = dict(meter.seconds) | {"children": children.ru_utime + children.ru_stime}
    total = own.ru_utime + own.ru_stime
    parts["imports"] += at_start
    parts["rest"] = total - sum(meter.seconds.values()) - at_start
    parts["process"] = total
    packages = dict(sorted(meter.packages.items(), key=lambda item: -item[1])[:25])
    into.write_text(json.dumps({"seconds": parts, "packages": packages}))
    return code


def cost_of(line: str, profile: str, cycles: int) -> dict[str, Any]:
    """Run a line in a fresh lake and return what its process measured."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        result, log = place / "cost.json", place / "log"
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("EVOLAKE_") and name != "PYTHONDONTWRITEBYTECODE"
        }
        environment |= {
            "EVOLAKE_LAKE": str(place / "lake"),
            "DAGSTER_HOME": str(place / "dagster"),
            "EVOLAKE_PROFILE": profile,
        }
        if line == "programs":
            environment["EVOLAKE_PROGRAMS__PROJECTS"] = str(
                ROOT / "examples" / "programs" / "function_minimization"
            )
        command = [
            sys.executable,
            __file__,
            PROBE,
            str(result),
            "--lines",
            line,
            "--cycles",
            str(cycles),
            "--json",
        ]
        tree = Tree()
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
            )
            while process.poll() is None:
                tree.look(process.pid)
                time.sleep(LOOK_S)
        if process.returncode:
            raise SystemExit(
                f"{line} ended with exit code {process.returncode}\n{log.read_text(errors='replace')[-3000:]}"
            )
        measured = json.loads(result.read_text())
        kinds, parts = tree.kinds(), measured["seconds"]
        unseen = max(0.0, parts["children"] - sum(seconds for _, seconds in kinds.values()))
        starts = STARTS | ({"jails": JAILS[line]} if line in JAILS else {})
        parts["starting"] = sum(
            count * cost_of_start(starts[kind]) for kind, (count, _) in kinds.items() if kind in starts
        )
        parts["overhead"] = sum(parts.get(part, 0.0) for part in OVERHEAD)
        return measured | {"kinds": {**kinds, "short-lived": (0, unseen)}}


@click.command()
@click.option(
    "--lines",
    default="programs" if SHORT else "designs,families,programs,solvers",
    show_default=True,
    help="Lines to measure, one after the other.",
)
@click.option(
    "--cycles",
    default=0 if SHORT else 1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Cycles after the seeds.",
)
@click.option("--profile", default="demo", show_default=True)
@click.option("--packages", is_flag=True, help="List what the imports brought, by the import that began it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def main(lines: str, cycles: int, profile: str, packages: bool, as_json: bool) -> None:
    """Print the seconds of processor time by part."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rows = {line: cost_of(line, profile, cycles) for line in lines.split(",")}
    if as_json:
        click.echo(json.dumps(rows))
        return
    click.echo(f"{'cpu seconds':<12}" + "".join(f"{part:>12}" for part in ("process", *PARTS)))
    for line, row in rows.items():
        click.echo(
            f"{line:<12}" + "".join(f"{row['seconds'].get(part, 0.0):>12.2f}" for part in ("process", *PARTS))
        )
        for kind, (count, seconds) in row["kinds"].items():
            click.echo(f"    {seconds:6.2f} {kind}" + (f" ({count})" if count else ""))
        for name, seconds in row["packages"].items() if packages else ():
            click.echo(f"    {seconds:6.2f} {name}")


if __name__ == "__main__":
    if PROBE in sys.argv:
        place = sys.argv.index(PROBE)
        sys.exit(measure(Path(sys.argv[place + 1]), sys.argv[place + 2 :]))
    main()
