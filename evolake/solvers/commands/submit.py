"""`evolake solvers submit`: a tree of your own as a candidate of the next cycle.

Exit codes: 0 kept, 2 for a folder, parent or hypothesis that cannot be used.
"""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say, say_json


@click.command(short_help="Submit the repository DIR to the next cycle.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
@click.option(
    "--parent", required=True, help="Id of the variant that it was made from, or the beginning of it."
)
@click.option("--hypothesis", required=True, help="What should improve, and why.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def submit(folder: Path, parent: str, hypothesis: str, as_json: bool) -> int:
    """Keep the repository DIR for the next cycle, where it is built and judged as any other variant."""
    from evolake.lake import Lake
    from evolake.settings import load
    from evolake.solvers.evolution import submissions

    if not folder.is_dir():
        raise InputError(
            f"there is no folder {folder}", wanted="a repository of the layout", do="check the path"
        )
    settings = load()
    row = submissions.submit(
        Lake(settings.require_lake()),
        folder,
        parent,
        hypothesis,
        adapters=settings.seeds / "solvers" / "adapters",
    )
    if as_json:
        details = {name: row[name] for name in ("submission_id", "cycle", "parent_id", "tree_sha")}
        say_json({"verdict": "kept"} | details)
    else:
        say(
            f"{folder}: submitted, on {row['parent_id'][:12]}; it enters cycle {row['cycle']}",
            "  next: evolake run --lines solvers",
        )
    return 0
