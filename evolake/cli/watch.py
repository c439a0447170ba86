"""`evolake watch`: a lake in the terminal, while runs write to it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.errors import LakeError
from evolake.terminal import visible_console

if TYPE_CHECKING:
    from rich.console import Group

    from evolake.report.outcome import Seen

VALUES_SHOWN = 6
EVERY_S = 3.0
"""Between two looks."""


@click.command(short_help="Watch the lines of a lake while they run.")
@click.option("--lake", "root", type=OrdinaryPath(), help="The lake's folder (default: EVOLAKE_LAKE).")
@click.option(
    "--lines", default="all", show_default=True, help="Comma-separated lines, or all that the lake has."
)
@click.option(
    "--once", is_flag=True, help="Print one frame and end, as it does where the output is no terminal."
)
def watch(root: Path | None, lines: str, once: bool) -> int:
    """Watch the lines of a lake: best score per cycle, gates, what was spent, what runs now. It reads and
    never writes; Ctrl-C ends it."""
    from rich.live import Live

    from evolake.report.outcome import Watcher

    named = [] if lines == "all" else [name.strip() for name in lines.split(",")]
    watcher = Watcher(root or settings_module.load().require_lake(), [*dict.fromkeys(named)])
    console = visible_console(highlight=False)
    if once or not console.is_terminal:
        console.print(frame(watcher.root, watcher.look()))
        return 0
    shown = frame(watcher.root, watcher.look())
    try:
        with Live(shown, console=console, auto_refresh=False) as live:
            while True:
                time.sleep(EVERY_S)
                try:
                    shown = frame(watcher.root, watcher.look())
                except LakeError as damage:  # also a table that a run has just replaced: what it was is looked up at the next look  # noqa: E501
                    shown = frame(watcher.root, [], str(damage))
                live.update(shown, refresh=True)
    except KeyboardInterrupt:
        console.print("No longer watching; runs continue.")
    return 0


def frame(root: Path, seen: list[Seen], trouble: str = "") -> Group:
    """Return what is on the screen. trouble: why nothing could be read."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.table import Table
    from rich.text import Text

    now = datetime.now(UTC)
    parts: list[Rule | Table | Text] = [Text(f"evolake  {root}  {now:%H:%M:%S} UTC", style="dim")]
    if trouble:
        parts.append(Text(f"the lake cannot be read: {trouble}", style="red"))
    elif not seen:
        parts.append(Text("The lake holds no cycle yet. Start with: evolake run --cycles 3 --profile demo"))
    for item in seen:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", min_width=7)
        grid.add_column(overflow="fold")
        for about, sentence in describe(item, now):
            grid.add_row(about, Text(sentence, style="green" if about == "now" and item.at_work else ""))
        done = f"{len(item.done)} cycle{'' if len(item.done) == 1 else 's'} done"
        parts += [Rule(Text.assemble((item.line, "bold"), f"  {done}"), align="left", style="dim"), grid]
    return Group(*parts)


def describe(seen: Seen, now: datetime) -> list[tuple[str, str]]:
    """Return (what it is about, sentence) of one line."""
    from evolake.report.champion import SEED_ROUND
    from evolake.report.numbers import blocks, figures

    rows = [("now", seen.at_work.text(now) if seen.at_work else "idle")]
    story = seen.story
    if story is None:
        return [*rows, ("leads", "no champion yet: no cycle is finished")]
    sentences = dict(story.lines())
    rows.append(("leads", sentences["Leads"]))
    if story.gain:
        rows.append(("gain", story.gain))
    if points := list(story.trend.points):
        when = {cycle: "at the start" if cycle == SEED_ROUND else f"in {cycle}" for cycle, _ in points}
        newest = ", ".join(
            f"{figures(value)}{story.trend.unit} {when[cycle]}" for cycle, value in points[-VALUES_SHOWN:]
        )
        rows.append(("score", f"{blocks([value for _, value in points])}  {story.trend.measure}: {newest}"))
    gates = "  ".join(
        f"{gate.name} {gate.came - gate.stopped}/{gate.came}" for gate in story.gates if gate.came
    )
    rows.append(
        (
            "gates",
            f"cycle {story.cycle}: {story.made} proposed, {story.passed} passed every gate"
            + (f"  ({gates})" if gates else ""),
        )
    )
    if story.beside:
        rows.append(("", f"plus {story.beside}"))
    if story.blocked() not in ("", "nothing"):
        rows.append(("", f"blocked {story.blocked()}"))
    return [*rows, ("spent", f"{story.spent.text()} so far; cycle {story.cycle}: {story.cost.text()}")]
