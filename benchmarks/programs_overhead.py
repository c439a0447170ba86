"""What an evaluation costs beyond the evaluator's own work, for each way that evaluator and program meet: in
jails that are started, and forked.

    python benchmarks/programs_overhead.py [--evaluations 60] [--json]
    python benchmarks/programs_overhead.py --cycle 2000 [--mode separate]

Processor milliseconds of the host's process and of all processes of its jails, less those of the same
evaluation in one bare process. The evaluator computes about 1 ms with numpy. The start of the warm jails is
reported for itself. Goal: at most 15 ms an evaluation in the modes "imports" and "separate".

`--cycle` runs a real cycle with so many candidates instead, by `evolake run` in a fresh lake, without
polishes, dumb searches, simplifying and audits at the entry. It prints the processor seconds of all its
processes, start and contest included. Goal: at most 25 for 2,000.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from bench import SHORT

from evolake.jail.inside.kernel import PR_SET_CHILD_SUBREAPER, prctl
from evolake.programs.evolution.budgeted_search import processor_seconds
from evolake.programs.model.project import Project, project_of
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.settings import ProgramsSettings

ROOT = Path(__file__).parents[1]
GOAL_MS, A_GENERATION = 15.0, 8
PROGRAM = """import numpy as np

ROUNDS = 100


# EVOLVE-BLOCK-START
def height(values):
    return np.sin(values) * 1.5 + 0.25
# EVOLVE-BLOCK-END


def heights(values):
    return sum(height(values) for number in range(ROUNDS)) / ROUNDS
"""
"""The rounds do not evolve, so that a candidate of a cycle takes about as long as this program."""
WORK = """import numpy as np

VALUES = np.linspace(0.0, 3.0, 200)


def worth(result):
    return float(-np.abs(np.asarray(result) - np.cos(VALUES)).mean())
"""
WHOLE = (
    WORK
    + """

def evaluate(program_path):
    import importlib.util
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return {"combined_score": worth(program.heights(VALUES))}
"""
)
APART = """import numpy as np

VALUES = np.linspace(0.0, 3.0, 200)


def cases(seed):
    return [VALUES.tolist()]


def score(cases, results):
    return {"combined_score": float(-np.abs(np.asarray(results[0]["output"]) - np.cos(VALUES)).mean())}
"""
MODES = {
    "imports": (WHOLE, '[evaluator]\nmode = "imports"\n'),
    "calls": (WHOLE, '[evaluator]\nmode = "calls"\n'),
    "separate": (APART, '[program]\nentry = "heights"\n[evaluator]\nmode = "separate"\n'),
}


def project(mode: str) -> Project:
    """Return the same task in one mode."""
    evaluator, toml = MODES[mode]
    return project_of(
        "overhead",
        {
            "initial_program.py": PROGRAM.encode(),
            "evaluator.py": evaluator.encode(),
            "project.toml": toml.encode(),
        },
    )


def cpu_s() -> float:
    """Processor seconds of this process, of all processes below it, and of those that have ended: also what a
    killed jail left (see `main`)."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return processor_seconds()


def spent(work: Callable[[int], None], times: int) -> tuple[float, float]:
    """(processor, clock) milliseconds of one call of `work`, of the mean over so many."""
    began, clock = cpu_s(), time.monotonic()
    for number in range(times):
        work(number)
    return 1e3 * (cpu_s() - began) / times, 1e3 * (time.monotonic() - clock) / times


def bare_ms(mode: str, times: int) -> float:
    """Processor milliseconds of one evaluation in this process: our own program and evaluator, loaded
    once."""
    program: dict = {}
    evaluator: dict = {}
    exec(PROGRAM, program)
    exec(MODES[mode][0], evaluator)
    worth = evaluator.get("worth")

    def work(number: int) -> None:
        if worth:
            worth(program["heights"](evaluator["VALUES"]))
        else:
            cases = evaluator["cases"](number)
            evaluator["score"](cases, [{"output": program["heights"](cases[0]).tolist()}])

    began = time.process_time()
    for number in range(times):
        work(number)
    return 1e3 * (time.process_time() - began) / times


def measured(mode: str, times: int, *, forked: bool) -> dict[str, float]:
    """Milliseconds of an evaluation in one mode, beyond the bare one, and of what is done once."""
    task = project(mode)
    with Evaluator(task, ProgramsSettings()) as evaluator:
        if not forked:
            evaluator.starts.obstacle = "it is measured without"

        def work(number: int) -> None:
            text = task.evolving[task.main].replace("0.25", f"0.{number + 100}")
            result = evaluator.evaluate({task.main: text}, 1)
            if not result.ok:
                raise SystemExit(f"{mode}: {result.status} {result.reason}")

        begun = cpu_s()
        for number in range(3):
            work(number)
        once = 1e3 * (cpu_s() - begun)
        if bool(evaluator.starts.obstacle) == forked:
            raise SystemExit(f"{mode}: {evaluator.starts.obstacle}")
        cpu_ms, clock_ms = spent(work, times if forked else max(2, times // 4))
    return {"cpu_ms": cpu_ms - bare_ms(mode, 200), "clock_ms": clock_ms, "once_ms": once}


def cycle_s(mode: str, evaluations: int) -> float:
    """Processor seconds of all processes of a cycle with so many candidates."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "overhead"
        folder.mkdir()
        for name, data in project(mode).files.items():
            (folder / name).write_bytes(data)
        sizes = {
            "PROJECTS": folder,
            "GENERATIONS_PER_CYCLE": -(-evaluations // A_GENERATION),
            "CANDIDATES_PER_GENERATION": A_GENERATION,
            **dict.fromkeys(("POLISH_S", "BASELINE_SHARE", "SIMPLIFY_S", "AUDIT_S"), 0),
        }
        bare = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")}
        own = {f"EVOLAKE_PROGRAMS__{name}": str(value) for name, value in sizes.items()}
        homes = {"EVOLAKE_LAKE": f"{place}/lake", "DAGSTER_HOME": f"{place}/dagster"}
        command = [Path(sys.executable).with_name("evolake"), "run", "--lines", "programs", "--cycles", "1"]
        begun = cpu_s()
        subprocess.run(command, cwd=ROOT, env=bare | own | homes, check=True)
        return cpu_s() - begun


@click.command()
@click.option(
    "--evaluations",
    default=8 if SHORT else 60,
    show_default=True,
    help="Forked ones of each mode; of started ones a quarter.",
)
@click.option("--json", "as_json", is_flag=True)
@click.option(
    "--cycle", type=click.IntRange(min=1), help="Measure a real cycle of so many candidates instead."
)
@click.option(
    "--mode", type=click.Choice([*MODES]), default="separate", show_default=True, help="Of --cycle."
)
def main(evaluations: int, as_json: bool, cycle: int | None, mode: str) -> None:
    """Print both ways for each mode, or what a cycle costs."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if cycle:
        click.echo(f"a cycle of {cycle:,} candidates, {mode}: {cycle_s(mode, cycle):.1f} processor seconds")
        return
    rows = {
        mode: {
            "bare_ms": bare_ms(mode, 200),
            **{way: measured(mode, evaluations, forked=way == "forked") for way in ("started", "forked")},
        }
        for mode in MODES
    }
    met = all(rows[mode]["forked"]["cpu_ms"] <= GOAL_MS for mode in ("imports", "separate"))
    if as_json:
        click.echo(json.dumps({"verdict": "met" if met else "missed", "goal_ms": GOAL_MS, "rows": rows}))
        return
    click.echo(f"{'mode':<10}{'way':<9}{'overhead cpu ms':>16}{'clock ms':>10}{'first 3, cpu ms':>17}")
    for mode, row in rows.items():
        for way in ("started", "forked"):
            click.echo(
                f"{mode:<10}{way:<9}{row[way]['cpu_ms']:>16.1f}{row[way]['clock_ms']:>10.1f}{row[way]['once_ms']:>17.0f}"
            )
        click.echo(f"{mode:<10}{'bare':<9}{row['bare_ms']:>16.1f}")
    click.echo(f"at most {GOAL_MS:g} cpu ms in imports and separate: {'met' if met else 'missed'}")


if __name__ == "__main__":
    main()
