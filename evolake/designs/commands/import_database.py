"""`evolake designs import`: a database of the paper's framework, for the next cycle that has not begun."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json

NOUNS = {
    "designs": "enter cycle {cycle}, through the gates of this line",
    "objectives": "vote from cycle {cycle} on, where their gate lets them",
    "results": "kept apart, as reported by others",
    "texts": "shown to planners from cycle {cycle} on, and shown by the report",
}
"""What becomes of each kind of row."""


@click.command(name="import", short_help="Import a database of the paper's framework.")
@click.argument("file", type=OrdinaryPath())
@click.option(
    "--files-only", is_flag=True, help="Read solvers/ and objectives/ of a folder that has no database."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def import_command(file: Path, files_only: bool, as_json: bool) -> int:
    """Import a database of the paper's framework. FILE is its database/database.json, or the folder that
    contains that folder.

    Read with it, where they are there: solvers/solver_N.py, objectives/metadata.json and objective_N.py,
    meta_agent/state.json, llm_log/designer_analysis_N.json and planner_N.json; all folders may carry the name
    of one workspace (database_22, solvers_22, ...). No other format is read. With --files-only, FILE is a
    folder without the database: each solver_N.py is a design without parents and results. Designs pass this
    line's gates and are measured here; results stay a separate table. Importing twice adds nothing.
    """
    from evolake.designs.evolution.importing import import_database
    from evolake.lake import Lake

    result = import_database(Lake(settings_module.load().require_lake()), file, files_only=files_only)
    reasons = [] if result.new else ["this database was imported before; nothing changed"]
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
