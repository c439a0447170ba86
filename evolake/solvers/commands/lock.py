"""`evolake solvers lock`: pin a folder of formulas, so that a file that changes is shown wherever the folder
is a suite.

Exit codes: 0 locked, 2 for a folder, formula or CSV file that cannot be used.
"""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.command(short_help="Write the lock file of a folder of formulas.")
@click.argument("folder", metavar="FOLDER", type=OrdinaryPath())
@click.option(
    "--statuses",
    type=OrdinaryPath(),
    default=None,
    help="CSV of name,status; default: the folder's status.csv.",
)
@click.option(
    "--source", default="", help="Where the formulas come from, kept with each of them (default: unknown)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def lock(folder: Path, statuses: Path | None, source: str, as_json: bool) -> int:
    """Write formulas.lock.json into FOLDER: sha256, variables, clauses, status and source of each formula in
    it.

    Every file is read once. What solvers read differently (a missing or wrong header, CRLF, `+1`) is repaired
    in the copy that they get; what is no CNF is left out. Both are printed and kept in the lock; the files
    stay as they are.
    """
    from evolake.solvers.suites.competition import lock_formulas, remarks_of
    from evolake.solvers.suites.folder_lock import LOCK, read_lock

    before = read_lock(folder) if folder.is_dir() else None

    def progress(done: int, total: int, name: str) -> None:
        say(f"{done}/{total} {name}", err=True)

    made = lock_formulas(folder, statuses=statuses, source=source, on_progress=None if as_json else progress)
    pins = made.pins
    counts = {
        status: sum(pin.status == status for pin in pins.values()) for status in ("SAT", "UNSAT", "unknown")
    }
    changed = sorted(name for name, pin in (before.pins if before else {}).items() if pins.get(name) != pin)
    if as_json:
        details = {
            "lock": str(folder / LOCK),
            "formulas": len(pins),
            "statuses": counts,
            "changed": changed,
            "repaired": {name: pin.repairs for name, pin in pins.items() if pin.repairs},
            "left_out": {name: entry.reason for name, entry in made.left_out.items()},
        }
        say_json({"verdict": "locked"} | details)
    else:
        say(
            f"{folder / LOCK}: {len(pins)} formulas, {counts['SAT']} SAT, {counts['UNSAT']} UNSAT, "
            f"{counts['unknown']} of unknown status"
        )
        for line in remarks_of(pins, made.left_out):
            say(f"  {line}")
        for name in changed:
            say(f"  changed: {name}")
        say(f"  next: evolake solvers bench DIR --suite {folder}, or EVOLAKE_SOLVERS__HOLDOUT_SUITE={folder}")
    return 0
