"""`evolake solvers verify`: may this repository take part? All gates, from layout to stability.

Exit codes: 0 accepted, 1 blocked, 2 a missing folder, adapter or seed, 3 the machinery failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json, say_text, visible_console


@click.command(short_help="Judge the repository DIR by every gate.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
@click.option(
    "--suite",
    type=click.Choice(["smoke", "train"]),
    default="smoke",
    show_default=True,
    help="Further formulas for models and proofs.",
)
@click.option(
    "--instances",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Only the first N formulas of it; 0: all of them.",
)
@click.option(
    "--adapter",
    "adapter_name",
    default=None,
    help="The solver's family, or a file NAME.toml (default: that of variant.toml); "
    "needed for an upstream tree.",
)
@click.option(
    "--profile",
    default=None,
    help="Sizes and limits (default: EVOLAKE_PROFILE, else the lake's, else laptop).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def verify(
    folder: Path, suite: str, instances: int, adapter_name: str | None, profile: str | None, as_json: bool
) -> int:
    """Judge the repository DIR: layout and rules, a clean build, small files, models and proofs, stability.

    DIR can also be what `evolake champion solvers --out DIR` wrote.
    """
    from evolake.solvers.gates.verifying import verify_folder

    with _progress(quiet=as_json) as advance:
        result = verify_folder(
            folder,
            suite=suite,
            instances=instances,
            adapter_name=adapter_name,
            profile=profile,
            on_progress=advance,
        )
    if as_json:
        say_json(result.to_json())
    elif result.judged.blocked_by is None:
        say(f"{folder}: accepted ({sum(result.to_json()['runs'].values())} runs, suite {suite})")
        if result.seed is None:
            say(
                "  its sources were compared with nothing, since no seed of its family is known: evolake "
                "seeds add DIR makes it one"
            )
    else:
        say(f"{folder}: blocked")
        say_text(result.judged.feedback)
        if result.judged.output:
            say("  the program wrote in runs that did not end well:")
            say_text(result.judged.output)
    return 0 if result.verdict == "accepted" else 1


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """Show a bar on a terminal's standard error; silence elsewhere."""
    console = visible_console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bars:
        bar = bars.add_task("gates", total=None)
        yield lambda gate, done, total: bars.update(bar, completed=done, total=total, description=gate)
