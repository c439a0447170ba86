"""`evolake designs merge`: the best designs of another lake with their whole genealogy, and its objectives,
for the next cycle to begin."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.command(short_help="Import the best designs and objectives of OTHER_LAKE.")
@click.argument("other_lake", type=OrdinaryPath())
@click.option(
    "--top",
    default=5,
    show_default=True,
    help="How many designs, best first by consensus; their ancestors come along.",
)
@click.option(
    "--alive",
    default=20,
    show_default=True,
    help="How many ancestors that are alive there stay alive, at most; best first.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def merge(other_lake: Path, top: int, alive: int, as_json: bool) -> int:
    """Import the best designs of OTHER_LAKE (its data folder), and its objectives. They enter the next cycle
    by this lake's gates."""
    from evolake.designs.evolution.merge import import_lake
    from evolake.lake import Lake

    result = import_lake(Lake(settings_module.load().require_lake()), other_lake, top=top, alive=alive)
    reasons = [] if result.new else ["this bundle was merged before; nothing changed"]
    if as_json:
        say_json(
            {
                "verdict": "merged",
                "reasons": reasons,
                "bundle_id": result.bundle_id,
                "designs": result.chosen,
                "ancestors": result.ancestors,
                "alive": result.alive,
                "objectives": result.objectives,
                "enters_cycle": result.since_cycle,
                "source_cycle": result.source_cycle,
                "new": result.new,
            }
        )
        return 0
    for line in reasons:
        say(line)
    came = (
        f"{len(result.chosen)} designs with {result.ancestors} ancestors ({result.alive} of them alive) "
        f"and {result.objectives} objectives"
    )
    say(f"{came} (from cycle {result.source_cycle} there) enter cycle {result.since_cycle}")
    for design_id in result.chosen:
        say(f"  {design_id}")
    return 0
