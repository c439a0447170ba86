"""`evolake designs import`: solvers and objectives of the paper's framework, for the next cycle that has not
begun."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json

NOUNS = {
    "designs": "enter cycle {cycle}, through the gates of this line",
    "objectives": "vote from cycle {cycle} on, if their gate accepts them",
}
"""What becomes of each kind of row."""


@click.command(name="import", short_help="Import solvers and objectives of the paper's framework.")
@click.argument("folder", type=OrdinaryPath())
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def import_command(folder: Path, as_json: bool) -> int:
    """Import files of the paper's framework. FOLDER is a copy of it, with solvers/solver_N.py in it.

    Read with them, if they are there: objectives/objective_N.py and metadata.json. All folders may carry the
    name of one workspace (solvers_22, ...). Each solver_N.py is a design without parents. Designs pass this
    line's gates and are measured here. Importing twice adds nothing.
    """
    from evolake.designs.evolution.importing import import_framework
    from evolake.lake import Lake

    result = import_framework(Lake(settings_module.load().require_lake()), folder)
    reasons = [] if result.new else ["these files were imported before; nothing changed"]
    malformed = ", ".join(f"{bad} of the {name}" for name, (_, bad) in result.counts.items() if bad)
    reasons += [f"malformed, with the reason in the row: {malformed}"] if malformed and result.new else []
    if as_json:
        counts = {
            name: {"read": read, "malformed": malformed} for name, (read, malformed) in result.counts.items()
        }
        say_json(
            {
                "verdict": "imported",
                "reasons": reasons,
                "bundle_id": result.bundle_id,
                "source": result.source,
                "enters_cycle": result.since_cycle,
                "new": result.new,
                **counts,
            }
        )
        return 0
    for line in reasons:
        say(line)
    if result.new:
        for name, summary in NOUNS.items():
            say(f"{name}, {result.counts[name][0]}: {summary.format(cycle=result.since_cycle)}")
    return 0
