"""`evolake show`: one artifact of any line."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json, say_text


@click.command(short_help="Show one artifact: origin, parents, gates, scores, text.")
@click.argument("artifact", metavar="ID")
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    help="Also write it into this folder, missing or empty, with a README.md (default: no).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def show(artifact: str, out: Path | None, as_json: bool) -> int:
    """Show one artifact of any line: a design, variant, family, prompt, objective, instance, plan or rule.

    ID: its id, the first eight or more digits of it, or its whole title; of a rule its whole name.
    """
    from evolake.lake import Catalogue, Lake
    from evolake.report.found import find_artifact
    from evolake.report.show import describe, lines_of
    from evolake.report.take_out import take_out

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
