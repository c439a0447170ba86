"""`evolake champion`: who holds the title of a line, and the champion as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say, say_json


@click.command(short_help="Show a line's champion, its gain and its ancestry, or export it.")
@click.argument("line")
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    help="Write it into this folder, missing or empty, with a README.md (default: print only).",
)
@click.option(
    "--project",
    default="",
    help="Of a line with a champion for each project: which; default: the first by name.",
)
@click.option(
    "--checkpoint", is_flag=True, help="With --out: also the policy's checkpoint, of a line that has one."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def champion(line: str, out: Path | None, project: str, checkpoint: bool, as_json: bool) -> int:
    """Print the champion of LINE: what it is, since which cycle, with which gain, and how many ancestors it
    has."""
    from evolake.lake import Catalogue, Lake
    from evolake.report.artifacts import artifacts_of
    from evolake.report.champion import current_champion, titles_of
    from evolake.report.found import find_artifact
    from evolake.report.numbers import counted, figures
    from evolake.report.standing import NOT_MEASURED
    from evolake.report.take_out import take_out

    if checkpoint and out is None:
        raise InputError("--checkpoint needs a folder to write to", wanted="--out DIR", do="add --out DIR")
    lake = Lake(settings_module.load().require_lake())
    written: dict[str, Any] = {}
    with Catalogue(lake) as catalogue:
        result = current_champion(lake, catalogue, line, project)
        titles = titles_of(lake, catalogue, line)
        if out is not None:
            artifact = find_artifact(catalogue, result.artifact_id)
            written = {
                "out": str(out),
                "files": take_out(lake, catalogue, artifact, out, held=result, checkpoint=checkpoint),
            }
    if as_json:
        names = ("line", "artifact_id", "title", "cycle", "since", "score", "content_sha", "ancestors")
        details = {name: getattr(result, name) for name in names} | (
            {"project": project or titles[0], "projects": titles} if titles else {}
        )
        say_json(
            {"verdict": "champion"}
            | details
            | {"gain": result.gain.to_json() if result.gain else None}
            | written
        )
        return 0
    score, _, note = artifacts_of(line).score.partition(", ")
    say(
        result.title,
        f"  id        {result.artifact_id}",
        f"  as of     cycle {result.cycle}, since cycle {result.since}",
    )
    value = "not known" if result.score is None else figures(result.score, 6)
    say(f"  {score:<9} {value}{f' ({note})' if note else ''}", f"  gain      {result.gain or NOT_MEASURED}")
    say(f"  lineage   {counted(result.ancestors or 0, 'ancestor')}", f"  source    blob {result.content_sha}")
    if others := [name for name in titles if name != (project or titles[0])]:
        say(f"  others    --project {', '.join(others)}")
    if out is not None:
        say(f"  written   {len(written['files'])} files; read {out / 'README.md'}")
    return 0
