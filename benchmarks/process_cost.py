"""Print the processor time of one run's own process by part: imports, definitions, checks, figures, the rest; and of the processes it starts.

    python benchmarks/process_cost.py [--lines designs,families,solvers] [--profile demo] [--packages] [--json]

Each line runs its seeds and one cycle in a fresh lake, in one process, as `evolake run --lines LINE --cycles 1` does. That process measures itself:
an import counts where it begins, with all that it imports, and nowhere else. Counted is the processor time (user and system), so that other work on
the machine matters little. "rest" is what the candidates' work, Dagster and the lake take in the process itself.
"""

from __future__ import annotations

import builtins
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
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parents[1]
PROBE = "--measure-into"
PARTS = ("imports", "definitions", "checks", "figures", "rest", "children")


class Meter:
    """Seconds of processor time by part. What is measured inside of something that is measured is not counted twice."""

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
                self.seconds["definitions" if name == "pipelines.definitions" else "imports"] += took - self._local.inside
                self.packages[name] += took
                self._local.importing, self._local.inside = False, inside + took

        return load


def measure(into: Path, arguments: list[str]) -> int:
    """Run `pipelines.evolve` in this process and write what it cost."""
    meter, at_start = Meter(), time.process_time()
    builtins.__import__ = meter.importing(builtins.__import__)
    importlib.import_module = meter.importing(importlib.import_module)
    from evolake.project import enter

    enter()
    import assets.checks
    import evolake.report.figures
    from pipelines.evolve import entry

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
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_") and name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"EVOLAKE_LAKE": str(place / "lake"), "DAGSTER_HOME": str(place / "dagster"), "EVOLAKE_PROFILE": profile}
        if line == "programs":
            environment["EVOLAKE_PROGRAMS__PROJECTS"] = str(ROOT / "examples" / "programs" / "function_minimization")
        command = [sys.executable, __file__, PROBE, str(result), "--lines", line, "--cycles", str(cycles), "--json"]
        with log.open("wb") as output:
            code = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
        if code:
            raise SystemExit(f"{line} ended with exit code {code}\n{log.read_text(errors='replace')[-3000:]}")
        return json.loads(result.read_text())


@click.command()
@click.option("--lines", default="designs,families,programs,solvers", show_default=True, help="Lines to measure, one after the other.")
@click.option("--cycles", default=1, show_default=True, type=click.IntRange(min=0), help="Cycles after the seeds.")
@click.option("--profile", default="demo", show_default=True)
@click.option("--packages", is_flag=True, help="List what the imports brought, by the import that began it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def main(lines: str, cycles: int, profile: str, packages: bool, as_json: bool) -> None:
    """Print the seconds of processor time by part."""
    rows = {line: cost_of(line, profile, cycles) for line in lines.split(",")}
    if as_json:
        click.echo(json.dumps(rows))
        return
    click.echo(f"{'cpu seconds':<12}" + "".join(f"{part:>12}" for part in ("process", *PARTS)))
    for line, row in rows.items():
        click.echo(f"{line:<12}" + "".join(f"{row['seconds'].get(part, 0.0):>12.2f}" for part in ("process", *PARTS)))
        for name, seconds in row["packages"].items() if packages else ():
            click.echo(f"    {seconds:6.2f} {name}")


if __name__ == "__main__":
    if PROBE in sys.argv:
        place = sys.argv.index(PROBE)
        sys.exit(measure(Path(sys.argv[place + 1]), sys.argv[place + 2:]))
    main()
