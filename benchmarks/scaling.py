"""What a second worker brings, line by line: one cycle by one Dask worker and the same cycle by two, from one
lake.

    python benchmarks/scaling.py [LINE ...]          default: families solvers designs

Both arms start from copies of a lake whose first cycle is sealed, so they do the same work; seconds are those
of the cycle's Dagster run, without the start of processes. Amdahl's law gives the serial share from the two
(2 * T2 / T1 - 1), and what more workers could bring at most if nothing else changed. One run an arm: with T2
near T1 the share says little beyond "mostly serial". Prompts are not among the lines: nothing of theirs goes
to workers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LINES = ("families", "solvers", "designs")
MORE = (8, 64, 800)


def run_cycle(root: Path, line: str, **settings: str) -> None:
    """One cycle more of a line, in the lake and the Dagster home below `root`."""
    command = [
        str(Path(sys.executable).with_name("evolake")),
        "run",
        "--cycles",
        "1",
        "--lines",
        line,
        "--profile",
        "demo",
    ]
    done = subprocess.run(
        command, env=environment(root) | settings, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(
            f"{line}: evolake run ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )


def environment(root: Path) -> dict[str, str]:
    """Return this process's variables less those of evolake and Dagster, and where the scratch lake lies."""
    outside = {
        name: value for name, value in os.environ.items() if not name.startswith(("EVOLAKE_", "DAGSTER_"))
    }
    return outside | {"EVOLAKE_LAKE": str(root / "lake"), "DAGSTER_HOME": str(root / "dagster")}


def seconds_of_newest_run(root: Path) -> float:
    """Wall seconds between the start and the end of the newest run that Dagster has noted."""
    from dagster import DagsterInstance

    with DagsterInstance.from_config(str(root / "dagster")) as instance:
        record = instance.get_run_records(limit=1)[0]
    assert record.start_time is not None and record.end_time is not None
    return record.end_time - record.start_time


def candidates_of(root: Path, line: str, cycle: str) -> int:
    """How many artifacts a cycle brought into the lake."""
    from evolake.lake import Lake
    from evolake.lake.catalogue import Catalogue

    with Catalogue(Lake(root / "lake")) as catalogue:
        return catalogue.query(
            "SELECT count(*) FROM artifacts WHERE line = $line AND cycle = $cycle",
            {"line": line, "cycle": cycle},
        ).rows[0][0]


def measure(line: str, folder: Path) -> str:
    """Return the line's row."""
    start = folder / line
    (start / "dagster").mkdir(parents=True)
    run_cycle(start, line)
    wall = {}
    for workers in (1, 2):
        root = folder / f"{line}-{workers}"
        shutil.copytree(start, root, symlinks=True)
        run_cycle(root, line, EVOLAKE_COMPUTE="dask", EVOLAKE_WORKERS=str(workers))
        wall[workers] = seconds_of_newest_run(root)
        made = candidates_of(root, line, "0002")
    serial = 2 * wall[2] / wall[1] - 1
    bounds = "  ".join(
        f"{count}: {1 / (share + (1 - share) / count):.1f}x"
        for share in [min(1.0, max(0.0, serial))]
        for count in MORE
    )
    rate = {workers: 3600 * made / seconds for workers, seconds in wall.items()}
    return (
        f"{line:9s} {wall[1]:6.1f} s by 1 worker, {wall[2]:6.1f} s by 2; {rate[1]:.0f} and {rate[2]:.0f} "
        f"artifacts per hour; serial share {100 * serial:.0f} %; at most by {bounds}"
    )


def main() -> None:
    """Print a row per line."""
    wanted = tuple(sys.argv[1:]) or LINES
    if unknown := set(wanted) - set(LINES):
        sys.exit(
            f"{', '.join(sorted(unknown))}: no line whose work goes to workers; choose from "
            f"{', '.join(LINES)}"
        )
    with tempfile.TemporaryDirectory() as folder:
        for line in wanted:
            print(measure(line, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
