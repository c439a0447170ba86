"""Figures of solvers on benchmarks: cactus plot, PAR-2 cycle by cycle, and one solver against another,
formula by formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evolake.plots.style import (
    BLUE,
    FAINT,
    INK,
    NORMAL,
    ORANGE,
    PALETTE,
    RED,
    SMALL,
    dress,
    figure,
    say,
    to_png,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axis import Axis

LEAST_S = 1e-3


@dataclass(frozen=True)
class SolverTimes:
    """cpu seconds of the formulas that a solver solved, in any order. kind: champion, seed or other."""

    name: str
    seconds: Sequence[float]
    kind: str = "other"


@dataclass(frozen=True)
class Par2Point:
    """One cycle: PAR-2 of the champion, and of all variants benchmarked in it."""

    cycle: str
    champion: float
    variants: Sequence[float] = ()


@dataclass(frozen=True)
class Meeting:
    """One formula under both solvers: cpu seconds, None for unsolved. truth: SAT, UNSAT or unknown."""

    formula: str
    first: float | None
    second: float | None
    truth: str = "unknown"


def cactus(solvers: Sequence[SolverTimes], timeout_s: float, title: str) -> bytes:
    """Draw solved formulas against the time that each was given: the further right and the lower, the
    better."""
    from matplotlib.ticker import MaxNLocator

    drawn, axes = figure(height=4.8)
    if not any(len(item.seconds) for item in solvers):
        say(axes, "No formula has been solved yet.")
        return to_png(drawn)
    colours = iter(PALETTE[1:])
    for item in sorted(solvers, key=lambda item: ("champion", "seed", "other").index(item.kind)):
        times = np.sort(np.maximum(np.asarray(item.seconds, dtype=np.float64), LEAST_S))
        look = (
            {"color": BLUE, "linewidth": 2.4, "zorder": 3}
            if item.kind == "champion"
            else {"color": next(colours, FAINT), "linewidth": 1.4}
        )
        if item.kind == "other":
            look = {"color": FAINT, "linewidth": 0.9, "alpha": 0.7, "zorder": 1}
        role = "champion " if item.kind == "champion" else ""
        label = wrapped(f"{role}{item.name}: {len(times)}", 30) if item.kind != "other" else None
        axes.plot(np.arange(1, len(times) + 1), times, marker="o", markersize=2.8, label=label, **look)
    if any(item.kind == "other" for item in solvers):
        axes.plot([], [], color=FAINT, linewidth=0.9, label="other live variants")
    axes.axhline(timeout_s, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label=f"timeout {timeout_s:g} s")
    axes.set_yscale("log")
    _plain_seconds(axes.yaxis)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    dress(axes, title, "formulas solved", "cpu seconds each")
    axes.legend(fontsize=SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return to_png(drawn)


def par2_trajectory(points: Sequence[Par2Point], baselines: Mapping[str, float]) -> bytes:
    """Draw PAR-2 by cycle: variants as dots, the champion as a line, its accumulated mean dashed, the seeds
    as horizontal lines."""
    drawn, axes = figure(height=4.6)
    if not points:
        say(axes, "No cycle has been benchmarked yet.")
        return to_png(drawn)
    x = np.arange(len(points))
    for place, point in enumerate(points):
        axes.plot(
            [place] * len(point.variants),
            point.variants,
            linestyle="none",
            marker="o",
            markersize=3.5,
            color=FAINT,
            alpha=0.7,
            zorder=1,
        )
    champion = np.array([point.champion for point in points])
    axes.plot(x, champion, color=BLUE, linewidth=2.0, marker="o", markersize=6, label="champion", zorder=3)
    axes.plot(
        x,
        np.cumsum(champion) / (x + 1),
        color=BLUE,
        linewidth=1.1,
        linestyle=(0, (4, 3)),
        label="accumulated mean",
        zorder=2,
    )
    for colour, (name, value) in zip(
        (*PALETTE[1:], *([FAINT] * len(baselines))),
        sorted(baselines.items(), key=lambda item: item[1]),
        strict=False,
    ):
        axes.axhline(value, color=colour, linewidth=1.1, label=wrapped(f"{name} {value:.3g}", 26))
    axes.plot(
        [], [], linestyle="none", marker="o", markersize=3.5, color=FAINT, label="variants of the cycle"
    )
    dress(
        axes,
        "PAR-2 on the suite train, cycle by cycle (lower is better)",
        "cycle",
        "PAR-2 (cpu seconds)",
        grid="y",
    )
    step = max(1, -(-len(points) // 20))
    axes.set_xticks(x[::step], [point.cycle for point in points[::step]], fontsize=SMALL)
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return to_png(drawn)


def scatter(meetings: Sequence[Meeting], timeout_s: float, first: str, second: str, title: str) -> bytes:
    """Draw one dot per formula; below the diagonal `second` is faster. Unsolved formulas are on the edge,
    which is drawn if there are any."""
    drawn, axes = figure(height=5.4, width=6.8)
    if not meetings:
        say(axes, "There is nothing to compare yet.")
        return to_png(drawn)
    edge = timeout_s * 1.5
    for truth, colour in (("SAT", BLUE), ("UNSAT", ORANGE), ("unknown", FAINT)):
        chosen = [item for item in meetings if item.truth == truth]
        if chosen:
            xs = [edge if item.first is None else max(item.first, LEAST_S) for item in chosen]
            ys = [edge if item.second is None else max(item.second, LEAST_S) for item in chosen]
            axes.plot(
                xs,
                ys,
                linestyle="none",
                marker="o",
                markersize=5,
                alpha=0.75,
                color=colour,
                label=f"{truth}: {len(chosen)}",
            )
    low = min(max(min(item.first or edge, item.second or edge), LEAST_S) for item in meetings) * 0.7
    axes.plot([low, edge], [low, edge], color=INK, linewidth=0.8)
    if any(None in (item.first, item.second) for item in meetings):
        for line in (axes.axhline, axes.axvline):
            line(edge, color=RED, linewidth=0.8, linestyle=(0, (2, 3)))
        axes.text(
            edge, low * 1.06, "unsolved", rotation=90, fontsize=SMALL, color=RED, ha="right", va="bottom"
        )
        axes.text(low * 1.06, edge, "unsolved", fontsize=SMALL, color=RED, ha="left", va="bottom")
    axes.set_xscale("log")
    axes.set_yscale("log")
    _plain_seconds(axes.xaxis)
    _plain_seconds(axes.yaxis)
    axes.set_xlim(low, edge * 1.25)
    axes.set_ylim(low, edge * 1.25)
    axes.set_aspect("equal")
    dress(axes, title, wrapped(f"{first}, cpu seconds", 52), wrapped(f"{second}, cpu seconds", 52))
    axes.legend(fontsize=NORMAL - 1, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return to_png(drawn)


def _plain_seconds(axis: Axis) -> None:
    """Ticks of a logarithmic axis as numbers that are read immediately: 0.1, 1, 10."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
