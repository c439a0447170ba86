"""`evolake champion`: who holds the title of a line."""

from __future__ import annotations

import json

import click

from evolake import settings as settings_module


@click.command()
@click.argument("line")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def champion(line: str, as_json: bool) -> int:
    """The champion of LINE: what it is, since which cycle, with which gain, and how many ancestors it has."""
    from evolake.lake import Catalogue, Lake
    from evolake.report.artifacts import artifacts_of
    from evolake.report.champion import reigning

    lake = Lake(settings_module.load().lake)
    with Catalogue(lake) as catalogue:
        found = reigning(lake, catalogue, line)
    if as_json:
        names = ("line", "artifact_id", "title", "cycle", "since", "score", "content_sha", "ancestors")
        told = {name: getattr(found, name) for name in names}
        click.echo(json.dumps({"verdict": "champion"} | told | {"gain": found.gain.to_json() if found.gain else None}))
        return 0
    score, _, note = artifacts_of(line).score.partition(", ")
    click.echo(f"{found.title}\n  id        {found.artifact_id}\n  as of     cycle {found.cycle}, since cycle {found.since}")
    click.echo(f"  {score:<9} {found.score}{f' ({note})' if note else ''}\n  gain      {found.gain or 'none measured'}")
    click.echo(f"  lineage   {found.ancestors} ancestors\n  source    blob {found.content_sha}")
    return 0
