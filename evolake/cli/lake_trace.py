"""`evolake lake trace`: the history of a line as plain files."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, LAKE, OrdinaryPath
from evolake.terminal import say, say_json


@click.command("trace", short_help="Write a line's history as JSONL and texts.")
@click.argument("line")
@click.option(
    "--out", required=True, type=OrdinaryPath(file_okay=False), help="The folder to write, missing or empty."
)
@click.option("--project", default="", help="Of a line with several projects: one (default: all).")
@LAKE
@AS_JSON
def trace(line: str, out: Path, project: str, root: Path | None, as_json: bool) -> int:
    """Write every artifact that LINE ever made as one line of JSON: parents, diff, score, verdicts of gates,
    tokens and seconds; texts are files named by their sha256.

    Other tools can read it without evolake (docs/traces.md), and `evolake audit` reads it as a finished run.
    """
    from evolake.lake import Catalogue, Lake
    from evolake.report.trace import write_trace

    lake = Lake(root or settings_module.load().require_lake())
    with Catalogue(lake) as catalogue:
        head = write_trace(lake, catalogue, line, out, project)
    if as_json:
        say_json({"verdict": "written", "out": str(out), **head})
    else:
        lost = f", {head['without_text']} of them without a text" if head["without_text"] else ""
        say(f"{head['candidates']} artifacts of {line} in {out}{lost}")
    return 0
