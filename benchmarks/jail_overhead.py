"""What confinement costs, in two tables, all in one run.

    python benchmarks/jail_overhead.py [--calls 200] [--runs 60] [--json]

A call of a one-line candidate that needs numpy: by the warm pool, by a new interpreter in a jail, by a bare
subprocess. The goal is a median of at most 3 ms a call for the warm pool with numpy. A fork of a process with
torch loaded is dearer: it has more pages.

A run of a small native program (`/bin/true`): by a bare `subprocess.run`, by a direct run (the way every
solver is run), and by the jail with a server in it, also as a build has it: with leave to make processes, and
so in a control group where there are any. These take turns, so that other work on the machine hurts all
alike. The goal is at most 20 ms above the bare run for a direct run.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import click
from bench import SHORT

from evolake.jail import GENERIC_DRIVER, Limits, NativeRun, open_pool, run_native
from evolake.jail.backends import server_environment
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.interpreter import interpreter

SOURCE = "import numpy\ndef f(x):\n    return x + 1\n"
TRUE = "/bin/true"
GOAL_MS, NATIVE_GOAL_MS = 3.0, 20.0
LIMITS = Limits(cpu_s=5, wall_s=20)


def cold(argv: list[str]) -> None:
    """One native run that must succeed."""
    outcome = run_native(NativeRun(argv, python=True), limits=Limits(), mode="bubblewrap")
    if (outcome.status, outcome.exit_code) != ("ok", 0):
        raise SystemExit(
            f"{argv[0]} failed: {outcome.status} {outcome.reason} {outcome.stderr.decode(errors='replace')}"
        )


def milliseconds(call: Callable[[], object]) -> float:
    """Return the wall time of a call."""
    started = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - started)


def median_ms(call: Callable[[], object], repeats: int) -> float:
    """Return the median wall time of a call, after three calls that do not count."""
    return statistics.median([milliseconds(call) for _ in range(repeats + 3)][3:])


def warm(preload: tuple[str, ...], mode: str, repeats: int) -> tuple[float, float]:
    """(start-up of a pool of one worker in seconds, median of one call in milliseconds)."""
    started = time.perf_counter()
    with open_pool(workers=1, preload=preload, mode=mode) as pool:
        startup_s = time.perf_counter() - started
        return startup_s, median_ms(
            lambda: pool.call(GENERIC_DRIVER, SOURCE, {"function": "f", "args": [41]}), repeats
        )


def calls_of_python(calls: int) -> dict[str, dict[str, float | None]]:
    """Return each way to call a candidate: median, ratio to the warm pool, seconds to start."""
    python, folders = interpreter()
    environment = server_environment("/tmp") | {"PYTHONPATH": ":".join(folders)}
    command = [python, "-S", "-B", "-c", f"{SOURCE}print(f(41))"]
    in_jail = ["/usr/bin/env", f"PYTHONPATH={':'.join(folders)}", "OPENBLAS_NUM_THREADS=1", *command]
    startup, medians = {}, {}
    for name, preload, mode in (
        ("warm pool, numpy", ("numpy",), "bubblewrap"),
        ("warm pool, torch", ("torch", "numpy"), "bubblewrap"),
        ("warm pool, numpy, rlimits", ("numpy",), "rlimits"),
    ):
        startup[name], medians[name] = warm(preload, mode, calls)
    few = max(5, calls // 10)
    medians["new interpreter in a jail"] = median_ms(lambda: cold(in_jail), few)
    medians["bare subprocess, no jail"] = median_ms(
        lambda: subprocess.run(command, env=environment, capture_output=True, check=True), few
    )
    medians["native /bin/true in a jail"] = median_ms(lambda: cold([TRUE]), few)
    base = medians["warm pool, numpy"]
    return {
        name: {"median_ms": median, "ratio": median / base, "startup_s": startup.get(name)}
        for name, median in medians.items()
    }


def native_runs(runs: int) -> list[dict[str, float | str]]:
    """Return each way to run a native program: median, best, what it costs above the bare run, ratio."""
    building = replace(LIMITS, processes=8)
    ways: dict[str, Callable[[], object]] = {
        "bare subprocess": lambda: subprocess.run(
            [TRUE], stdin=subprocess.DEVNULL, capture_output=True, check=True
        ),
        "direct run in the jail": lambda: run_direct(DirectRun([TRUE]), LIMITS, mode="bubblewrap"),
        "direct run, weaker mode": lambda: run_direct(DirectRun([TRUE]), LIMITS, mode="rlimits"),
        "jail with a server in it": lambda: run_native(NativeRun([TRUE]), limits=LIMITS, mode="bubblewrap"),
        "jail of a build": lambda: run_native(NativeRun([TRUE]), limits=building, mode="bubblewrap"),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for call in ways.values():
        call()
    for number in range(runs):
        for name, call in ways.items():
            if not name.startswith("jail") or number % 4 == 0:
                taken[name].append(milliseconds(call))
    bare = statistics.median(taken["bare subprocess"])
    return [
        {
            "way": name,
            "median_ms": round(median, 2),
            "best_ms": round(min(values), 2),
            "overhead_ms": round(median - bare, 2),
            "ratio": round(median / bare, 1),
        }
        for name, values in taken.items()
        for median in [statistics.median(values)]
    ]


@click.command()
@click.option(
    "--calls",
    default=20 if SHORT else 200,
    show_default=True,
    help="Calls of the warm pool; the slow ways make a tenth.",
)
@click.option("--runs", default=8 if SHORT else 60, show_default=True, help="Runs of the native program.")
@click.option("--json", "as_json", is_flag=True)
def main(calls: int, runs: int, as_json: bool) -> None:
    """Print medians, and ratios to the warm pool and to the bare run."""
    rows, native = calls_of_python(calls), native_runs(runs)
    verdict = "met" if (rows["warm pool, numpy"]["median_ms"] or 0.0) <= GOAL_MS else "missed"
    if as_json:
        goals = {"verdict": verdict, "goal_ms": GOAL_MS, "goal_overhead_ms": NATIVE_GOAL_MS}
        click.echo(json.dumps(goals | {"rows": rows, "native": native}))
        return
    click.echo(f"{'way':<28}{'median ms':>10}{'ratio':>8}{'start s':>9}")
    for name, row in rows.items():
        start = f"{row['startup_s']:9.2f}" if row["startup_s"] is not None else f"{'':>9}"
        click.echo(f"{name:<28}{row['median_ms']:>10.2f}{row['ratio']:>8.1f}{start}")
    click.echo(f"goal of {GOAL_MS} ms for the warm pool with numpy: {verdict}\n")
    click.echo(
        f"{'way':<26} {'median ms':>9} {'best ms':>8} {'overhead ms':>11} {'ratio':>6}   (goal: direct "
        f"run at most {NATIVE_GOAL_MS:g} ms above bare)"
    )
    for row in native:
        click.echo(
            f"{row['way']:<26} {row['median_ms']:>9.2f} {row['best_ms']:>8.2f} "
            f"{row['overhead_ms']:>11.2f} {row['ratio']:>5.1f}x"
        )


if __name__ == "__main__":
    sys.exit(main())
