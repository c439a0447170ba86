"""What a design does next to another: how fast its memories move, and how many times less work it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.plots.style import BLUE, INK, NORMAL, RED, SMALL, dress, figure, say, to_png

MOST_PANELS = 4
WIDTHS = {"champion": 1.4, "baseline": 3.2}
STYLES = ((0, ()), (0, (5, 2)), (0, (1, 1.5)))


@dataclass(frozen=True)
class Response:
    """How fast `memory` moves (y) against x, at one level. role: champion or baseline. level: shown in the
    legend; empty for a single one."""

    memory: str
    role: str
    level: str
    x: np.ndarray
    y: np.ndarray


def responses(result: Sequence[Response], title: str) -> bytes:
    """Return a panel per memory, side by side; each line over its own largest size, so that what shows is its
    form. Colour is the role, style the level.
    """
    from matplotlib.lines import Line2D

    memories = list(dict.fromkeys(item.memory for item in result))[:MOST_PANELS]
    drawn, axes = figure(height=4.2, width=4.0 * max(len(memories), 2))
    if not memories:
        say(axes, "The champion has no memory of a clause that could be asked.")
        return to_png(drawn)
    axes.remove()
    panels = drawn.subplots(1, len(memories), squeeze=False)[0]
    levels = list(dict.fromkeys(item.level for item in result))
    colours = {"champion": BLUE, "baseline": RED}
    for panel, memory in zip(panels, memories, strict=True):
        for entry in sorted(
            (item for item in result if item.memory == memory), key=lambda item: item.role
        ):  # the champion lies on top
            largest = float(np.max(np.abs(entry.y), initial=0.0))
            y = entry.y / largest if np.isfinite(largest) and largest > 0 else entry.y
            panel.plot(
                entry.x,
                y,
                color=colours[entry.role],
                linestyle=STYLES[levels.index(entry.level) % len(STYLES)],
                linewidth=WIDTHS[entry.role],
                alpha=0.55 if entry.role == "baseline" else 1.0,
            )
        panel.axhline(0.0, color=INK, linewidth=0.8)
        dress(
            panel,
            memory,
            "unsatisfaction c of the clause",
            "rate of change, over its largest" if panel is panels[0] else "",
        )
    drawn.suptitle(title, x=0.01, ha="left", fontsize=NORMAL + 2, color=INK)
    handles = [
        Line2D([], [], color=colour, label=role)
        for role, colour in colours.items()
        if any(item.role == role for item in result)
    ]
    handles += [
        Line2D([], [], color=INK, linestyle=STYLES[place % len(STYLES)], label=level)
        for place, level in enumerate(levels)
        if level
    ]
    drawn.legend(
        handles=handles, fontsize=SMALL, frameon=False, loc="outside lower center", ncols=len(handles)
    )
    return to_png(drawn)


def speedup(points: Sequence[tuple[int, float | None, bool]]) -> bytes:
    """Draw points: size, times less work, whether both solved it; a hollow mark where one did not, since its
    work is projected."""
    from matplotlib.ticker import FixedLocator, NullLocator

    drawn, axes = figure(height=3.8)
    known = [(n, times, solved) for n, times, solved in points if times]
    if not known:
        say(axes, "The baseline itself is champion, or they share no size.")
        return to_png(drawn)
    n, times = [item[0] for item in known], [item[1] for item in known]
    axes.plot(n, times, color=BLUE, linewidth=1.4, zorder=2)
    for size, value, solved in known:
        axes.plot(
            [size],
            [value],
            marker="o",
            markersize=6.5,
            color=BLUE,
            markerfacecolor=BLUE if solved else "white",
            zorder=3,
        )
    axes.axhline(1.0, color=INK, linewidth=1.0, linestyle=(0, (4, 3)))
    axes.set_xscale("log")
    dress(axes, "Median work of the baseline over that of the champion", "variables N", "times less work")
    axes.xaxis.set_major_locator(FixedLocator(n))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([str(size) for size in n])
    axes.set_ylim(bottom=0.0)
    return to_png(drawn)
