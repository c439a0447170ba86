"""`evolake solvers ablate`: what it is worth to show planner and coder something.

Exit codes: 0 both arms were made, 2 no population, or a journal of another question, 3 the machinery failed.
"""

from __future__ import annotations

from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json, visible_console


@click.command(short_help="Measure whether showing the rules helps planner and coder.")
@click.option(
    "--without",
    type=click.Choice(["rules", "knowledge"]),
    required=True,
    help="Information that one of the two arms does not get.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often both arms are made.",
)
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    required=True,
    help="Folder of the journal; a killed run continues from it.",
)
@click.option(
    "--profile",
    default=None,
    help="Sizes and limits (default: EVOLAKE_PROFILE, else the lake's, else laptop).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def ablate(without: str, repeats: int, out: Path, profile: str | None, as_json: bool) -> int:
    """Let planner and coder work on the newest population, with and without some information, and count what
    passes the gates."""
    from evolake.settings import load
    from evolake.solvers.evolution import ablation

    arms, cycle = ablation.ablate(
        load(profile),
        without=without,
        repeats=repeats,
        out=out,
        on_progress=lambda text: None if as_json else say(text, err=True),
    )
    if as_json:
        say_json(
            {
                "verdict": "measured",
                "cycle": cycle,
                "repeats": repeats,
                "arms": [arm.to_json() for arm in arms],
            }
        )
        return 0
    from rich.table import Table

    table = Table(
        title=f"population of cycle {cycle}, {repeats} repeats; shares of the plans with 95% intervals"
    )
    for name in (
        "arm",
        "plans",
        *(name.replace("_", " ") for name in ablation.MEASURES),
        "blocked",
        "repairs",
        "usd",
    ):
        table.add_column(name)
    for arm in arms:
        shares = [
            f"{share.estimate:.0%} ({share.low:.0%} to {share.high:.0%})" for share in arm.shares.values()
        ] or ["-"] * len(ablation.MEASURES)
        blocked = ", ".join(f"{gate} {count}" for gate, count in arm.gates.items()) or "none"
        table.add_row(arm.name, str(arm.plans), *shares, blocked, str(arm.repairs), f"{arm.usd:.4f}")
    visible_console(width=160).print(table)
    return 0
