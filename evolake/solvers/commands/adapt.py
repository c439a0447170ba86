"""`evolake solvers adapt`: propose the adapter of a solver's upstream tree, and try it.

Exit codes: 0 every gate accepts it; 1 it is blocked, or none could be proposed; 2 no such archive or folder,
or a file that is there already; 3 the machinery failed.
"""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.command(short_help="Propose an adapter for upstream sources and try it.")
@click.argument("source", metavar="ARCHIVE_OR_FOLDER", type=OrdinaryPath())
@click.option(
    "-o",
    "--out",
    "toml",
    type=OrdinaryPath(dir_okay=False),
    default=None,
    help="File to write; default: NAME.toml here.",
)
@click.option(
    "--profile",
    default=None,
    help="Sizes and limits (default: EVOLAKE_PROFILE, else the lake's, else laptop).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def adapt(source: Path, toml: Path | None, profile: str | None, as_json: bool) -> int:
    """Write an adapter for the upstream tree ARCHIVE_OR_FOLDER: how it is built and run, found by trying.

    Its configure script, CMake or make builds it in the sandbox, and the program is run on small formulas to
    find command lines for answers and for proofs. Then the tree is laid out, goes through all gates and is
    measured on a few formulas.
    """
    from evolake.solvers.adapting.adapt import adapt as propose

    result = propose(
        source,
        toml,
        profile=profile,
        on_progress=lambda text: None if as_json else say(f"  {text}", err=True),
    )
    if as_json:
        say_json(result.to_json())
    else:
        say(f"{result.source}: {result.verdict}{f', adapter {result.toml}' if result.toml else ''}")
        for line in result.found:
            say(f"  {line}")
        for reason in result.reasons:
            say(f"  {'note' if result.verdict == 'accepted' else 'reason'}: {reason}")
        if result.next_command:
            say(
                "  next: "
                f"{'' if result.verdict == 'accepted' else f'edit {result.toml} as said, then '}{result.next_command}"  # noqa: E501
            )
    return 0 if result.verdict == "accepted" else 1
