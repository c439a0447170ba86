"""Planted faults: which gate catches how many of each class, and how many get through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.plots.style import INK, NORMAL, PALETTE, RED, SMALL, dress, figure, say, to_png


@dataclass(frozen=True)
class FaultKills:
    """One class of faults: into how many candidates it was planted, gate -> how many were stopped there.
    interval: of the share stopped."""

    fault: str
    planted: int
    gates: Mapping[str, int]
    interval: tuple[float, float] | None = None

    @property
    def survived(self) -> int:
        """Return the number of planted faults that no gate caught."""
        return self.planted - sum(self.gates.values())


def kill_rates(classes: Sequence[FaultKills], gates: Sequence[str], title: str) -> bytes:
    """Return a bar a class, divided by the gate that stopped it; what got through is red at the end.

    Args:
        gates: in the order in which candidates meet them. Classes without a candidate are left out.
    """
    shown = [item for item in classes if item.planted]
    drawn, axes = figure(height=1.8 + 0.27 * max(len(shown), 6))
    if not shown:
        say(axes, "No faults have been planted yet.")
        return to_png(drawn)
    places = np.arange(len(shown))[::-1]
    colours = [colour for colour in PALETTE if colour != RED]
    left = np.zeros(len(shown))
    for number, gate in enumerate(gates):
        shares = np.array([item.gates.get(gate, 0) / item.planted for item in shown])
        if shares.any():
            axes.barh(places, shares, left=left, height=0.7, color=colours[number % len(colours)], label=gate)
        left += shares
    through = np.array([item.survived / item.planted for item in shown])
    axes.barh(
        places,
        through,
        left=1 - through,
        height=0.7,
        color=RED,
        hatch="///",
        edgecolor="white",
        label="got through",
    )
    for place, element in zip(places, shown, strict=True):
        text = f"{element.planted - element.survived} of {element.planted}"
        if element.interval is not None:
            text += f" ({element.interval[0]:.0%} to {element.interval[1]:.0%})"
        axes.text(1.02, place, text, va="center", fontsize=SMALL, color=RED if element.survived else INK)
    dress(axes, title, "share of planted faults, by the gate that stopped them", grid="x")
    axes.set_yticks(places, [item.fault for item in shown], fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.28)
    axes.set_xticks(np.linspace(0, 1, 6), [f"{share:.0%}" for share in np.linspace(0, 1, 6)])
    axes.set_ylim(-0.6, len(shown) - 0.4)
    drawn.legend(
        *axes.get_legend_handles_labels(),
        fontsize=NORMAL,
        frameon=False,
        loc="outside lower center",
        ncols=len(gates) + 1,
    )
    return to_png(drawn)
