"""Plot how the cost grows with the size of the instance, by which a design is judged, and what a design does
next to another: how fast its memories move, how many times less work it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.plots.style import BLUE, FAINT, INK, NORMAL, RED, SMALL, dress, figure, say, to_png, wrapped
from evolake.stats.power_law import fit_power_law


@dataclass(frozen=True)
class Curve:
    """Levels of one design. n: (L,) sizes; cost: (L,) what a solution took; solved: (L,) bool, False where
    that is a projection."""

    label: str
    n: Sequence[float]
    cost: Sequence[float]
    solved: Sequence[bool]


def scaling(
    curves: Sequence[Curve],
    champion: str | None = None,
    baseline: str | None = None,
    highest: int = 60,
    *,
    short: str = "steps",
    title: str = "Median steps to a solution by instance size",
    axis: str = "median steps",
) -> bytes:
    """Draw median cost against N, log-log, one line per design.

    Champion and baseline (labels) are highlighted, with a power-law fit through their solved levels and its
    exponent; from four levels on, a band has 95% of further measurements. Of the others at most `highest` are
    drawn, thin. Unsolved levels are hollow: their cost is projected. short: what the fit calls the cost;
    title, axis: of the figure and of its upright axis.
    """
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

    drawn, axes = figure(height=5.6)
    curves = [curve for curve in curves if len(curve.n)]
    if not curves:
        say(axes, "Nothing has been measured yet.")
        return to_png(drawn)
    special = {label: colour for label, colour in ((baseline, RED), (champion, BLUE)) if label is not None}
    handles: list[Line2D] = []
    others = [curve for curve in curves if curve.label not in special]
    for curve in others[:highest]:
        _draw(axes, curve, FAINT, width=0.8, size=3.5, alpha=0.55, above=1)
    sizes = sorted({float(n) for curve in curves for n in curve.n})
    for label, colour in special.items():
        for curve in (curve for curve in curves if curve.label == label):
            if champion == baseline:
                role = "champion and baseline"
            elif label == champion:
                role = "champion"
            else:
                role = "baseline"
            text = wrapped(f"{role}: {label}", 36)
            _draw(axes, curve, colour, width=1.2, size=6.5, alpha=1.0, above=3)
            solved = [
                (n, steps) for n, steps, good in zip(curve.n, curve.cost, curve.solved, strict=True) if good
            ]
            if law := fit_power_law(*zip(*solved, strict=True)) if solved else None:
                grid = np.geomspace(sizes[0], sizes[-1], 80)
                middle, low, high = zip(*map(law.predicted, grid), strict=True)
                axes.plot(grid, middle, color=colour, linewidth=1.6, linestyle=(0, (5, 3)), zorder=2)
                if law.freedom > 1:
                    axes.fill_between(grid, low, high, color=colour, alpha=0.12, linewidth=0, zorder=1.5)
                    text += ", band: 95% of measurements"
                text += f"\n{short} ~ N^({law.b:.2f} ± {law.b_error:.2f})"
            handles.insert(
                0,
                Line2D(
                    [],
                    [],
                    color=colour,
                    marker="o",
                    markersize=6.5,
                    linewidth=1.6,
                    linestyle=(0, (5, 3)),
                    label=text,
                ),
            )
    if others:
        shown = min(len(others), highest)
        handles.append(
            Line2D(
                [], [], color=FAINT, marker="o", markersize=3.5, linewidth=0.8, label=f"{shown} other designs"
            )
        )
    handles.append(
        Line2D(
            [],
            [],
            color=INK,
            marker="o",
            markerfacecolor="white",
            linestyle="none",
            markersize=6,
            label="not solved (projected)",
        )
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    dress(axes, title, "variables N", axis)
    ticks = _spread_out(sizes)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{tick:g}" for tick in ticks])
    low, high = _limit_height(axes, curves)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 2000 else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.legend(handles=handles, fontsize=SMALL, frameon=False, loc="upper left", labelspacing=0.7)
    return to_png(drawn)


def _draw(axes, curve: Curve, colour: str, width: float, size: float, alpha: float, above: float) -> None:
    order = np.argsort(np.asarray(curve.n, dtype=np.float64), kind="stable")
    n, steps = (
        np.asarray(curve.n, dtype=np.float64)[order],
        np.maximum(np.asarray(curve.cost, dtype=np.float64)[order], 1.0),
    )
    solved = np.asarray(curve.solved, dtype=bool)[order]
    axes.plot(n, steps, color=colour, linewidth=width, alpha=alpha, zorder=above)
    dots = {"color": colour, "marker": "o", "markersize": size, "linestyle": "none", "alpha": alpha}
    axes.plot(n[solved], steps[solved], zorder=above + 0.2, **dots)
    axes.plot(n[~solved], steps[~solved], markerfacecolor="white", zorder=above + 0.3, **dots)


def _spread_out(sizes: Sequence[float]) -> list[float]:
    """Ticks at measured sizes, at least a third of an octave apart, at most sixteen."""
    least = max(2 ** (1 / 3), (sizes[-1] / sizes[0]) ** (1 / 16)) if sizes[-1] > sizes[0] else 2.0
    ticks = [sizes[0]]
    for size in sizes[1:]:
        if size >= 0.999 * least * ticks[-1]:
            ticks.append(size)
    return ticks


def _limit_height(axes, curves: Sequence[Curve]) -> tuple[float, float]:
    """Height from what was measured, so that neither a wide band nor one absurd projection flattens the rest;
    room for the legend on top."""
    steps = np.concatenate([np.maximum(np.asarray(curve.cost, dtype=np.float64), 1.0) for curve in curves])
    top = min(float(steps.max()), 30 * float(np.quantile(steps, 0.98)))
    low = float(steps.min())
    limits = (low / 1.6, top * (top / low) ** 0.12 * 2)
    axes.set_ylim(limits)
    return limits


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


def speedup(points: Sequence[tuple[int, float | None, bool]]) -> bytes | None:
    """Draw points: size, times less work, whether both solved it; a hollow mark where one did not, since its
    work is projected. None if the baseline itself is champion, or they share no size."""
    from matplotlib.ticker import FixedLocator, NullLocator

    known = [(n, times, solved) for n, times, solved in points if times]
    if not known:
        return None
    drawn, axes = figure(height=3.8)
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
