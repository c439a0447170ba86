"""`evolake champion` (who holds the title of a line, and the champion as a folder), `evolake show` (one
artifact of any line) and `evolake bundle` (a champion as one file that carries what is needed to check it,
and the check).

Exit codes of `verify`: 0 it holds, 1 it does not, 2 wrong usage, 3 it cannot be judged on this machine.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, OrdinaryPath
from evolake.errors import InputError
from evolake.new_files import write_whole
from evolake.terminal import say, say_json, say_text


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
    "--merge", is_flag=True, help="With --out, of prompts: also base model and adapter as one model."
)
@click.option(
    "--base", is_flag=True, help="With --out, of prompts: also the base model, for use on another machine."
)
@AS_JSON
def champion(line: str, out: Path | None, project: str, merge: bool, base: bool, as_json: bool) -> int:
    """Print the champion of LINE: what it is, since which cycle, with which gain, and how many ancestors it
    has."""
    from evolake.lake import Catalogue, Lake
    from evolake.report.artifacts import Artifact, artifacts_of, kind_of
    from evolake.report.champion import current_champion, titles_of
    from evolake.report.numbers import counted, figures
    from evolake.report.show import find_artifact, take_out
    from evolake.report.standing import NOT_MEASURED

    models = [name for name, wanted in (("base", base), ("merge", merge)) if wanted]
    if models and out is None:
        raise InputError(f"--{models[-1]} needs a folder to write to", wanted="--out DIR", do="add --out DIR")
    lake = Lake(settings_module.load().require_lake())
    written: dict[str, Any] = {}
    with Catalogue(lake) as catalogue:
        result = current_champion(lake, catalogue, line, project)
        titles = titles_of(lake, catalogue, line)
        if out is not None:
            artifact = find_artifact(catalogue, result.artifact_id)
            written = {
                "out": str(out),
                "files": take_out(lake, catalogue, artifact, out, held=result, models=models),
            }
    item = Artifact(result.artifact_id, line, result.kind, result.title, content_sha=result.content_sha)
    remarks = list(kind_of(item).remarks(lake, item))
    if as_json:
        names = ("line", "artifact_id", "title", "cycle", "since", "score", "content_sha", "ancestors")
        details = {name: getattr(result, name) for name in names} | (
            {"project": project or titles[0], "projects": titles} if titles else {}
        )
        say_json(
            {"verdict": "champion"}
            | details
            | {"gain": result.gain.to_json() if result.gain else None, "remarks": remarks}
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
    say(*(f"  {remark}" for remark in remarks))
    say(f"  lineage   {counted(result.ancestors or 0, 'ancestor')}", f"  source    blob {result.content_sha}")
    if others := [name for name in titles if name != (project or titles[0])]:
        say(f"  others    --project {', '.join(others)}")
    if out is not None:
        say(f"  written   {len(written['files'])} files; read {out / 'README.md'}")
    return 0


@click.command(short_help="Show one artifact: origin, parents, gates, scores, text.")
@click.argument("artifact", metavar="ID")
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    help="Also write it into this folder, missing or empty, with a README.md (default: no).",
)
@AS_JSON
def show(artifact: str, out: Path | None, as_json: bool) -> int:
    """Show one artifact of any line: a design, variant, family, prompt, objective, instance, plan or rule.

    ID: its id, the first eight or more digits of it, or its whole title; of a rule its whole name.
    """
    from evolake.lake import Catalogue, Lake
    from evolake.report.show import describe, find_artifact, lines_of, take_out

    lake = Lake(settings_module.load().require_lake())
    with Catalogue(lake) as catalogue:
        item = find_artifact(catalogue, artifact)
        result = describe(lake, catalogue, item)
        files = take_out(lake, catalogue, item, out) if out else None
    if as_json:
        written = {"out": str(out), "files": files} if files else {}
        say_json({"verdict": "found"} | result | written, default=str)
        return 0
    *lines, text = lines_of(result)
    say(*lines)
    say_text(text)
    if files:
        say("", f"written to {out}: {len(files)} files; read {out / 'README.md'}")  # type: ignore[operator]
    return 0


DRAWN = 5


@click.group(short_help="Export a champion as a file, or verify such a file.")
def bundle() -> None:
    """Export a champion as a file that anybody can check, or verify one.

    \b
    Examples:
      evolake bundle export designs -o designs.tar
      evolake bundle verify designs.tar
    """


@bundle.command(short_help="Write CHAMPION with everything that is needed to verify it.")
@click.argument("champion", metavar="CHAMPION")
@click.option(
    "-o",
    "--out",
    type=OrdinaryPath(dir_okay=False),
    required=True,
    help="The file to write; nothing is overwritten.",
)
@click.option(
    "--project",
    default="",
    help="Of a line with a champion for each project: which; default: the first by name.",
)
@AS_JSON
def export(champion: str, out: Path, project: str, as_json: bool) -> int:
    """Write CHAMPION with all that is needed to check it: a line's name for its champion, or an accepted
    artifact's id (or its first 8 digits)."""
    from evolake.bundles.container import Refused, unpack
    from evolake.bundles.exporting import export as exported
    from evolake.lake import Catalogue, Lake

    if out.exists():
        raise InputError(
            f"{out} is there already",
            wanted="a file that is not there yet",
            do="choose another name: nothing is overwritten",
        )
    settings = settings_module.load()
    lake = Lake(settings.require_lake())
    with Catalogue(lake) as catalogue:
        data = exported(lake, catalogue, champion, settings, project)
    unpacked = unpack(data)
    if isinstance(unpacked, Refused):
        raise AssertionError(f"what was packed cannot be read: {unpacked.reason}")
    write_whole(out, data)
    details = {
        "out": str(out),
        "root": unpacked.root,
        "bytes": len(data),
        "members": sorted(unpacked.members),
        **unpacked.facts,
    }
    if as_json:
        say_json({"verdict": "exported"} | details)
    else:
        facts = unpacked.facts
        say(
            f"{out}: {facts['line']} {facts['kind']} {facts['title']}, {len(unpacked.members)} members, "
            f"{len(data):,} bytes"
        )
        say(f"  root {unpacked.root}", f"  identity {facts['identity']['sha256']}")
        say(f"  next: evolake bundle verify {out}")
    return 0


@bundle.command(short_help="Verify the bundle FILE without a lake.")
@click.argument("file", metavar="FILE", type=OrdinaryPath())
@click.option("--all", "everything", is_flag=True, help="Run every evaluation again that it brings.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=None,
    help=f"Run this many again, drawn at random (default: {DRAWN}).",
)
@click.option(
    "--root",
    default=None,
    metavar="HEX",
    help="The root hash that it must have, as `export` printed it (default: any).",
)
@click.option(
    "--identity",
    default=None,
    metavar="HEX",
    help="The hash of artifact, evaluator, initial program and rules that it must have (default: any).",
)
@AS_JSON
def verify(
    file: Path, everything: bool, sample: int | None, root: str | None, identity: str | None, as_json: bool
) -> int:
    """Check the bundle FILE: whole, and what it claims holds when run again here, in the jail. Needs no lake.

    Exit code 0 where it holds, 1 where it does not, 3 where this machine cannot judge it (no jail, no
    compiler, a package that is missing).
    """
    from evolake.bundles.verifying import verify as verified

    if everything and sample is not None:
        raise InputError("--all and --sample say two things", wanted="one of them", do="leave one out")
    for name, given in (("root", root), ("identity", identity)):
        if given is not None and not re.fullmatch("[0-9a-f]{64}", given):
            raise InputError(
                f"--{name} is no {name} hash",
                wanted="64 hexadecimal digits",
                got=given[:80],
                do="take what `evolake bundle export` printed",
            )
    quiet = as_json or not sys.stderr.isatty()
    result = verified(
        file,
        sample=None if everything else sample or DRAWN,
        root=root,
        identity=identity,
        progress=lambda text: None if quiet else say(text, err=True),
    )
    if as_json:
        say_json(result.to_json())
    else:
        for line in result.lines():
            say(line)
    return result.exit_code
