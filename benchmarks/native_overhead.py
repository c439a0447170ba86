"""What a jailed run of a native program costs beside a bare one: `python benchmarks/native_overhead.py
[--json]`.

The same small program (`/bin/true`) by a bare `subprocess.run`, by a direct run (the way every solver is
run), and by the jail with a server in it, also as a build has it: with leave to make processes, and so in a
control group where there are any. They take turns, so that other work on the machine hurts all alike. Shown:
the median of each, what it costs above the bare run, and the ratio.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from evolake.jail import Limits, NativeRun, run_native
from evolake.jail.direct import DirectRun, run_direct

PROGRAM = "/bin/true"
RUNS = 60
GOAL_MS = 20.0


def milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    limits = Limits(cpu_s=5, wall_s=20)
    ways: dict[str, Callable[[], object]] = {
        "bare subprocess": lambda: subprocess.run(
            [PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, check=True
        ),
        "direct run in the jail": lambda: run_direct(DirectRun([PROGRAM]), limits, mode="bubblewrap"),
        "direct run, weaker mode": lambda: run_direct(DirectRun([PROGRAM]), limits, mode="rlimits"),
        "jail with a server in it": lambda: run_native(
            NativeRun([PROGRAM]), limits=limits, mode="bubblewrap"
        ),
        "jail of a build": lambda: run_native(
            NativeRun([PROGRAM]), limits=replace(limits, processes=8), mode="bubblewrap"
        ),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for call in ways.values():
        call()
    for number in range(RUNS):
        for name, call in ways.items():
            if name.startswith("jail") and number % 4:
                continue
            taken[name].append(milliseconds(call))
    median = {name: statistics.median(values) for name, values in taken.items()}
    bare = median["bare subprocess"]
    rows = [
        {
            "way": name,
            "median_ms": round(value, 2),
            "best_ms": round(min(taken[name]), 2),
            "overhead_ms": round(value - bare, 2),
            "ratio": round(value / bare, 1),
        }
        for name, value in median.items()
    ]
    if "--json" in sys.argv:
        print(json.dumps({"rows": rows, "goal_overhead_ms": GOAL_MS}))
        return
    print(
        f"{'way':<26} {'median ms':>9} {'best ms':>8} {'overhead ms':>11} {'ratio':>6}   (goal: direct "
        f"run at most {GOAL_MS:g} ms above bare)"
    )
    for row in rows:
        print(
            f"{row['way']:<26} {row['median_ms']:>9.2f} {row['best_ms']:>8.2f} "
            f"{row['overhead_ms']:>11.2f} {row['ratio']:>5.1f}x"
        )


if __name__ == "__main__":
    main()
