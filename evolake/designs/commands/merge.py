"""`evolake designs merge`: the best designs of another lake, with their whole genealogy, for the next cycle that has not begun."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evolake import settings as settings_module


@click.command()
@click.argument("other_lake", type=click.Path(path_type=Path))
@click.option("--top", default=5, show_default=True, help="How many designs, best first by consensus; their ancestors come along.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def merge(other_lake: Path, top: int, as_json: bool) -> int:
    """Import the best designs of OTHER_LAKE (its data folder). They enter the next cycle, pass this lake's gates and are measured here."""
    from evolake.designs.evolution.merge import import_lake
    from evolake.lake import Lake

    found = import_lake(Lake(settings_module.load().lake), other_lake, top=top)
    reasons = [] if found.new else ["this bundle was merged before; nothing changed"]
    if as_json:
        click.echo(json.dumps({
            "verdict": "merged", "reasons": reasons, "bundle_id": found.bundle_id, "designs": found.chosen, "ancestors": found.ancestors,
            "enters_cycle": found.since_cycle, "source_cycle": found.source_cycle, "new": found.new,
        }))
        return 0
    for line in reasons:
        click.echo(line)
    came = f"{len(found.chosen)} designs with {found.ancestors} ancestors (from cycle {found.source_cycle} there)"
    click.echo(f"{came} enter cycle {found.since_cycle}")
    for design_id in found.chosen:
        click.echo(f"  {design_id}")
    return 0
