"""The consensus cycle by cycle: where the population is and where the best is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.plots.style import BLUE, FAINT, INK, SMALL, dress, figure, say, to_png, wrapped


@dataclass(frozen=True)
class CycleValues:
    """Consensus values, each in [0, 1] and lower is better, of all designs ranked in a cycle; champion: name
    of the best."""

    cycle: str
    consensus: Sequence[float]
    champion: str = ""


def consensus_trajectory(cycles: Sequence[CycleValues]) -> bytes:
    """Return all designs' consensus by cycle: quartiles as a band, the median, the best with its name where
    it changes.

    The consensus is relative to the designs of its cycle: a flat line of the best does not mean that nothing
    improved.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    drawn, axes = figure(height=4.6)
    cycles = [cycle for cycle in cycles if len(cycle.consensus)]
    if not cycles:
        say(axes, "No cycle has been ranked yet.")
        return to_png(drawn)
    x = np.arange(len(cycles))
    quartiles = np.array([np.quantile(cycle.consensus, [0.25, 0.5, 0.75]) for cycle in cycles])
    best = [float(np.min(cycle.consensus)) for cycle in cycles]
    for place, cycle in enumerate(cycles):
        values = np.sort(np.asarray(cycle.consensus, dtype=np.float64))
        shift = 0.12 * np.sin(2.4 * np.arange(len(values)))
        axes.plot(
            place + shift,
            values,
            linestyle="none",
            marker="o",
            markersize=2.6,
            color=FAINT,
            alpha=0.6,
            zorder=1,
        )
    if len(cycles) > 1:
        axes.fill_between(x, quartiles[:, 0], quartiles[:, 2], color=FAINT, alpha=0.25, linewidth=0, zorder=0)
    else:
        axes.vlines(x, quartiles[:, 0], quartiles[:, 2], color=FAINT, alpha=0.35, linewidth=14, zorder=0)
    axes.plot(x, quartiles[:, 1], color=INK, linewidth=1.3, linestyle=(0, (4, 3)), marker="_", zorder=2)
    axes.plot(x, best, color=BLUE, linewidth=1.8, marker="o", markersize=6, zorder=3)
    last, labelled_at = None, -10.0
    gap = max(1.0, len(cycles) / 10)
    for place, cycle in enumerate(cycles):
        if cycle.champion and cycle.champion != last and place - labelled_at >= gap:
            axes.annotate(
                wrapped(cycle.champion, 18),
                (place, best[place]),
                xytext=(0, -8),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=SMALL - 1,
                color=BLUE,
            )
            labelled_at = place
        last = cycle.champion
    dress(axes, "Consensus of all designs, cycle by cycle (lower is better)", "cycle", "consensus", grid="y")
    step = max(1, -(-len(cycles) // 20))
    axes.set_xticks(x[::step], [cycle.cycle for cycle in cycles[::step]], fontsize=SMALL)
    axes.set_xlim(-0.5, len(cycles) - 0.5)
    axes.set_ylim(-0.1, 1.03)
    axes.set_yticks(np.linspace(0, 1, 6))
    handles = [
        Line2D([], [], color=BLUE, marker="o", linewidth=1.8, label="best design"),
        Line2D([], [], color=INK, linewidth=1.3, linestyle=(0, (4, 3)), label="median"),
        Patch(color=FAINT, alpha=0.35, linewidth=0, label="middle half"),
        Line2D([], [], color=FAINT, marker="o", linestyle="none", markersize=4, label="a design"),
    ]
    axes.legend(handles=handles, fontsize=SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return to_png(drawn)
