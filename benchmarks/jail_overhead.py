"""What confinement costs a call: the warm pool, beside a new interpreter in a jail, beside a bare subprocess,
all in one run.

    python benchmarks/jail_overhead.py [--calls 200] [--json]

Each way runs the same one-line candidate. The subprocess ways start an interpreter and import numpy, as a
candidate that needs it would; the goal is a median of at most 3 ms a call for the warm pool with numpy. A
fork of a process with torch loaded is dearer: it has more pages.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import click

from evolake.jail import GENERIC_DRIVER, Limits, NativeRun, open_pool, run_native
from evolake.jail.backends import server_environment
from evolake.jail.interpreter import interpreter

SOURCE = "import numpy\ndef f(x):\n    return x + 1\n"
PROGRAM = f"{SOURCE}print(f(41))"
GOAL_MS = 3.0


def cold(argv: list[str]) -> None:
    """One native run that must succeed."""
    outcome = run_native(NativeRun(argv, python=True), limits=Limits(), mode="bubblewrap")
    if (outcome.status, outcome.exit_code) != ("ok", 0):
        raise SystemExit(
            f"{argv[0]} failed: {outcome.status} {outcome.reason} {outcome.stderr.decode(errors='replace')}"
        )


def median_ms(call: Callable[[], object], repeats: int) -> float:
    """Median wall time of `call` in milliseconds, after three calls that do not count."""
    for _ in range(3):
        call()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1e3 * statistics.median(times)


def warm(preload: tuple[str, ...], mode: str, repeats: int) -> tuple[float, float]:
    """(start-up of a pool of one worker in seconds, median of one call in milliseconds)."""
    started = time.perf_counter()
    with open_pool(workers=1, preload=preload, mode=mode) as pool:
        startup_s = time.perf_counter() - started
        return startup_s, median_ms(
            lambda: pool.call(GENERIC_DRIVER, SOURCE, {"function": "f", "args": [41]}), repeats
        )


@click.command()
@click.option(
    "--calls", default=200, show_default=True, help="Calls of the warm pool; the slow ways make a tenth."
)
@click.option("--json", "as_json", is_flag=True)
def main(calls: int, as_json: bool) -> None:
    """Print medians, and ratios to the warm pool."""
    python, folders = interpreter()
    environment = server_environment("/tmp") | {"PYTHONPATH": ":".join(folders)}
    command = [python, "-S", "-B", "-c", PROGRAM]
    in_jail = ["/usr/bin/env", f"PYTHONPATH={':'.join(folders)}", "OPENBLAS_NUM_THREADS=1", *command]
    startup, medians = {}, {}
    startup["warm pool, numpy"], medians["warm pool, numpy"] = warm(("numpy",), "bubblewrap", calls)
    startup["warm pool, torch"], medians["warm pool, torch"] = warm(("torch", "numpy"), "bubblewrap", calls)
    startup["warm pool, numpy, rlimits"], medians["warm pool, numpy, rlimits"] = warm(
        ("numpy",), "rlimits", calls
    )
    few = max(5, calls // 10)
    medians["new interpreter in a jail"] = median_ms(lambda: cold(in_jail), few)
    medians["bare subprocess, no jail"] = median_ms(
        lambda: subprocess.run(command, env=environment, capture_output=True, check=True), few
    )
    medians["native /bin/true in a jail"] = median_ms(lambda: cold(["/bin/true"]), few)
    base = medians["warm pool, numpy"]
    rows = {
        name: {"median_ms": median, "ratio": median / base, "startup_s": startup.get(name)}
        for name, median in medians.items()
    }
    if as_json:
        click.echo(
            json.dumps({"verdict": "met" if base <= GOAL_MS else "missed", "goal_ms": GOAL_MS, "rows": rows})
        )
        return
    click.echo(f"{'way':<28}{'median ms':>10}{'ratio':>8}{'start s':>9}")
    for name, row in rows.items():
        start = f"{row['startup_s']:9.2f}" if row["startup_s"] is not None else f"{'':>9}"
        click.echo(f"{name:<28}{row['median_ms']:>10.2f}{row['ratio']:>8.1f}{start}")
    click.echo(f"goal of {GOAL_MS} ms for the warm pool with numpy: {'met' if base <= GOAL_MS else 'missed'}")


if __name__ == "__main__":
    sys.exit(main())
