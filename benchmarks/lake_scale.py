"""A lake of 1,000 sealed cycles, 10^5 artifacts and 10^6 lineage rows: what opening it, asking it and adding
to it takes.

    python benchmarks/lake_scale.py                      a smaller lake of 50 cycles, in a folder that is removed again
    python benchmarks/lake_scale.py --cycles 1000        the lake that docs/team-lake.md has the figures of: minutes, and some gigabytes
    python benchmarks/lake_scale.py --cycles 1000 --keep DIR   keeps it there; a lake that is there already is measured as it is

The lake is that of the line `solvers`: every table that the line has, each with a part for every cycle,
written with the lake's own encoding, hashes, logs and seals, and without waiting for the disk. Each figure is
from a process of its own: seconds of the processor, on the clock, and the goal. All is measured twice, as the
lake was written and after `evolake lake compact`, which stays done; opening also without checkpoints.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lake_scale_synthesis import LINE, synthesize, synthesize_next

GOALS = {
    "open the catalogue": 2.0,
    "ancestry of the champion": 1.0,
    "evolake status": 3.0,
    "chain check of the newest cycle": 1.0,
}
QUERY_GOAL = 5.0
ANCESTRY = "SELECT * FROM ancestors((SELECT arg_max(artifact_id, cycle) FROM champions WHERE line = $line))"
ALL_ONCE = "every question once, which gathers parts"
"""The first questions after many cycles write files below cache/parts (evolake.lake.gathered); the figures
after it are of those that find them."""
LIMIT_S = 3600
PARAMETERS = {
    "line": LINE,
    "run_id": "run-0500",
    "gate_no": "2",
    "rule_id": "rule-1",
    "before": "1",
    "after": "2",
}


def main() -> None:
    """Synthesizes where nothing is, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.keep)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = given.keep or Path(folder) / "lake"
        if not root.exists():
            start = time.perf_counter()
            synthesize(root, given.cycles)
            print(f"synthesized {given.cycles} cycles in {time.perf_counter() - start:.0f} s")
        files = sum(1 for path in (root / "tables").rglob("*") if path.is_file())
        print(f"{files} files below tables/")
        shutil.rmtree(root / "cache", ignore_errors=True)
        run_measurement("open, without checkpoints", root, None)
        run_measurement("publish one more cycle", root, None)
        for state in ("as it was written", "compacted"):
            print(f"-- {state}")
            if state == "compacted":
                run_measurement("compact", root, None)
                print(
                    f"{sum(1 for path in (root / 'tables').rglob('*') if path.is_file())} files below tables/"
                )
            run_measurement(ALL_ONCE, root, None)
            for name, goal in GOALS.items():
                run_measurement(name, root, goal)
            for path in sorted(Path(__file__).resolve().parent.parent.joinpath("sql/cookbook").glob("*.sql")):
                run_measurement(f"cookbook/{path.name}", root, QUERY_GOAL)
            run_measurement("publish one more cycle", root, None)


def run_measurement(name: str, root: Path, goal: float | None) -> None:
    """Run one measurement in a separate process and print its line."""
    command = [sys.executable, __file__, "--keep", str(root), "--measure", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        print(f"{name:40} more than {LIMIT_S} s", flush=True)
        return
    if done.returncode:
        print(f"{name:40} failed: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return
    result = json.loads(done.stdout.splitlines()[-1])
    against = "" if goal is None else f"   goal {goal:g} s, {'met' if result['cpu_s'] < goal else 'MISSED'}"
    print(
        f"{name:40} cpu {result['cpu_s']:7.2f} s  (clock {result['wall_s']:8.2f} s){against}   "
        f"{result['note']}",
        flush=True,
    )


def measure(name: str, root: Path) -> None:
    """One measurement, printed as one JSON line; imports are not counted, but for `evolake status`, which is
    a whole command."""
    from evolake.cli.known_tables import all_tables
    from evolake.lake import Catalogue, Lake
    from evolake.lake.catalogue import SQL_ROOT

    def opened() -> Catalogue:
        return Catalogue(Lake(root), all_tables())

    def spent() -> float:
        return sum(
            item.ru_utime + item.ru_stime
            for item in (
                resource.getrusage(resource.RUSAGE_SELF),
                resource.getrusage(resource.RUSAGE_CHILDREN),
            )
        )

    if name.startswith("cookbook/") or name == "ancestry of the champion":
        text, catalogue = ANCESTRY if name.startswith("ancestry") else (SQL_ROOT / name).read_text(), opened()
        given = {key: value for key, value in PARAMETERS.items() if f"${key}" in text}
        work = lambda: f"{len(catalogue.query(text, given).rows)} rows"  # noqa: E731
    elif name == ALL_ONCE:
        catalogue = opened()
        texts = [ANCESTRY, *(path.read_text() for path in sorted((SQL_ROOT / "cookbook").glob("*.sql")))]

        def work() -> str:
            for text in texts:
                catalogue.query(text, {key: value for key, value in PARAMETERS.items() if f"${key}" in text})
            return f"{sum(1 for _ in (root / 'cache' / 'parts').rglob('*.parquet'))} files"

    elif name == "compact":
        from evolake.lake.compact import compact

        work = lambda: f"{sum(table.parts for table in compact(Lake(root)))} parts"  # noqa: E731
    elif name.startswith("open"):
        work = lambda: f"{len(opened().views())} views"  # noqa: E731
    elif name == "evolake status":
        import os

        environment = {**os.environ, "EVOLAKE_LAKE": str(root)}
        run = [str(Path(sys.executable).with_name("evolake")), "status"]
        asked = {"env": environment, "capture_output": True, "text": True, "check": True}
        work = lambda: subprocess.run(run, **asked).stdout.splitlines()[0]  # noqa: E731
    elif name == "chain check of the newest cycle":
        lake = Lake(root)
        newest = lake.seals.cycles(LINE)[-1]
        work = lambda: f"cycle {newest}: {Lake(root).seals.broken_link(LINE, newest) or 'holds'}"  # noqa: E731
    else:
        work = lambda: synthesize_next(root)  # noqa: E731
    start, cpu = time.perf_counter(), spent()
    note = work()
    print(json.dumps({"wall_s": time.perf_counter() - start, "cpu_s": spent() - cpu, "note": note}))


if __name__ == "__main__":
    main()
