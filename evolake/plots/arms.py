"""Plot arms of a study: rates with intervals, what a solve costs, who dominates whom, how rounds converge,
what perturbations do; and a prompt's rating against its held-out score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evolake.plots.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    NORMAL,
    ORANGE,
    PALETTE,
    PURPLE,
    RED,
    SMALL,
    dress,
    figure,
    halo,
    say,
    short,
    to_png,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


NOTHING = "No results yet."
MARKERS = ("s", "o", "^", "D", "v", "P", "X", "*")
_REFERENCE_FIRST = (FAINT, ORANGE, PURPLE, GREEN, BLUE, RED)


@dataclass(frozen=True)
class ArmRate:
    """Share of runs solved by an arm, with its interval; `parts` are further shares to mark on the same row,
    NaN if there are none."""

    arm: str
    rate: float
    low: float
    high: float
    parts: Mapping[str, float]


@dataclass(frozen=True)
class ArmCurve:
    """A curve of an arm: y over x, both (n,), with the interval low..high (n,) if there is one."""

    arm: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class ArmPoint:
    """Where an arm is: its price x, its rate y with its interval, and whether none dominates it."""

    arm: str
    x: float
    y: float
    low: float
    high: float
    best: bool


@dataclass(frozen=True)
class ArmDelta:
    """A change of an arm's rate, with its interval."""

    arm: str
    delta: float
    low: float
    high: float


def colours_of_arms(arms: Sequence[str]) -> dict[str, str]:
    """Return a colour an arm; the first, the reference, is grey."""
    colours = _REFERENCE_FIRST if len(arms) <= len(_REFERENCE_FIRST) else PALETTE
    return {arm: colours[place % len(colours)] for place, arm in enumerate(arms)}


def arm_rates(
    rates: Sequence[ArmRate],
    title: str,
    x: str = "share of runs solved",
    colours: Mapping[str, str] | None = None,
) -> bytes:
    """Return a bar an arm with its interval, the parts as markers. colours: of the arms, where several
    figures show them; None: see `colours_of_arms`.
    """
    from matplotlib.lines import Line2D

    drawn, axes = figure(height=1.7 + 0.62 * max(len(rates), 4))
    if not rates:
        say(axes, NOTHING)
        return to_png(drawn)
    colours, places = colours or colours_of_arms([rate.arm for rate in rates]), np.arange(len(rates))[::-1]
    for place, item in zip(places, rates, strict=True):
        axes.barh(place, item.rate, height=0.56, color=colours[item.arm], alpha=0.85, zorder=1)
        axes.plot(
            [item.low, item.high],
            [place, place],
            color=INK,
            linewidth=1.6,
            marker="|",
            markersize=9,
            zorder=3,
        )
        for number, value in enumerate(item.parts.values()):
            if np.isfinite(value):
                axes.plot(
                    value,
                    place,
                    marker=MARKERS[number + 1],
                    color="white",
                    markeredgecolor=INK,
                    markersize=7,
                    zorder=4,
                    clip_on=False,
                )
        axes.text(1.13, place, f"{item.rate:.1%}", ha="right", va="center", fontsize=NORMAL, color=INK)
    dress(axes, title, x, grid="x")
    axes.set_yticks(places, [rate.arm for rate in rates], fontsize=NORMAL)
    axes.tick_params(axis="y", length=0, pad=8)
    _percent(axes, "x")
    axes.set_xlim(0, 1.14)
    axes.set_ylim(-0.6, len(rates) - 0.4)
    handles = [Line2D([], [], color=INK, marker="|", markersize=9, linewidth=1.6, label="95% interval")]
    handles += [
        Line2D(
            [],
            [],
            color="white",
            marker=MARKERS[number + 1],
            markeredgecolor=INK,
            markersize=7,
            linestyle="none",
            label=name,
        )
        for number, name in enumerate(rates[0].parts)
    ]
    drawn.legend(
        handles=handles, fontsize=SMALL, frameon=False, loc="outside lower center", ncols=len(handles)
    )
    return to_png(drawn)


def arm_steps(curves: Sequence[ArmCurve], title: str, x: str, y: str) -> bytes:
    """Draw share solved by so many calls: a staircase an arm."""
    drawn, axes = figure(height=4.6)
    if not curves:
        say(axes, NOTHING)
        return to_png(drawn)
    colours = colours_of_arms([curve.arm for curve in curves])
    end = max(max(curve.x) for curve in curves) + 0.4
    for item in curves:
        axes.step(
            [0, *item.x, end],
            [0, *item.y, item.y[-1]],
            where="post",
            color=colours[item.arm],
            linewidth=2.0,
            label=item.arm,
        )
    axes.set_xlim(0, end)
    _whole_numbers(axes)
    return _of_shares(drawn, axes, title, x, y)


def arm_curves(
    curves: Sequence[ArmCurve], title: str, x: str, y: str, colours: Mapping[str, str] | None = None
) -> bytes:
    """Draw share solved by the end of each round: a line per arm with its interval. colours: as of
    `arm_rates`."""
    drawn, axes = figure(height=4.6)
    if not curves:
        say(axes, NOTHING)
        return to_png(drawn)
    colours = colours or colours_of_arms([curve.arm for curve in curves])
    for place, item in enumerate(curves):
        if len(item.low):
            axes.fill_between(item.x, item.low, item.high, color=colours[item.arm], alpha=0.18, linewidth=0)
        axes.plot(
            item.x,
            item.y,
            color=colours[item.arm],
            linewidth=2.0,
            marker=MARKERS[place % len(MARKERS)],
            markersize=6,
            label=item.arm,
        )
    _whole_numbers(axes)
    return _of_shares(drawn, axes, title, x, y)


def arm_frontier(points: Sequence[ArmPoint], title: str, x: str, y: str) -> bytes:
    """Draw rate against price: up and to the left is better. The staircase joins the arms that none
    dominates."""
    drawn, axes = figure(height=4.8)
    if not points:
        say(axes, NOTHING)
        return to_png(drawn)
    colours = colours_of_arms([point.arm for point in points])
    widest = 1.12 * max(point.x for point in points)
    best = sorted((point for point in points if point.best), key=lambda item: item.x)
    stairs = [point.x for point in best] + [widest], [point.y for point in best] + [best[-1].y]
    axes.step(*stairs, where="post", color=FAINT, linestyle=(0, (4, 3)), zorder=1)
    for place, point in enumerate(points):
        bars = [[point.y - point.low], [point.high - point.y]]
        axes.errorbar(
            point.x, point.y, yerr=bars, color=colours[point.arm], capsize=3, linewidth=1.4, zorder=2
        )
        axes.plot(
            point.x,
            point.y,
            marker=MARKERS[place % len(MARKERS)],
            markersize=10,
            color=colours[point.arm] if point.best else "white",
            markeredgecolor=colours[point.arm],
            markeredgewidth=1.8,
            linestyle="none",
            zorder=3,
            label=point.arm + ("" if point.best else " (dominated)"),
        )
    axes.set_xlim(0, widest)
    return _of_shares(drawn, axes, title, x, y)


def arm_deltas(
    panels: Mapping[str, Sequence[ArmDelta]], title: str, x: str, colours: Mapping[str, str] | None = None
) -> bytes:
    """Draw one panel a perturbation: each arm's change with its interval, about a line at zero. Panels share
    their scale. colours: as of `arm_rates`."""
    arms = list(dict.fromkeys(item.arm for panel in panels.values() for item in panel))
    drawn, axes = figure(height=2.0 + 0.5 * max(len(arms), 4))
    if not arms:
        say(axes, "No perturbed problems have been run.")
        return to_png(drawn)
    axes.remove()
    colours, places = (
        colours or colours_of_arms(arms),
        {arm: len(arms) - 1 - place for place, arm in enumerate(arms)},
    )
    reach = 1.15 * max(
        [
            0.02,
            *(
                abs(end)
                for panel in panels.values()
                for item in panel
                for end in (item.low, item.high, item.delta)
            ),
        ]
    )
    grid = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, (name, deltas) in zip(grid, panels.items(), strict=True):
        panel.axvline(0, color=INK, linewidth=1.0)
        for delta in deltas:
            place = places[delta.arm]
            panel.plot(
                [delta.low, delta.high],
                [place, place],
                color=colours[delta.arm],
                linewidth=2.2,
                marker="|",
                markersize=8,
            )
            panel.plot(delta.delta, place, marker="o", markersize=8, color=colours[delta.arm])
            panel.annotate(
                f"{100 * delta.delta:+.1f}",
                (delta.delta, place),
                xytext=(0, 7),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
                color=INK,
                path_effects=halo(),
            )
        dress(panel, name, grid="x")
        panel.set_xlim(-reach, reach)
        panel.set_ylim(-0.6, len(arms) - 0.3)
        panel.set_yticks(list(places.values()), list(places), fontsize=NORMAL)
        panel.tick_params(axis="y", length=0)
        panel.xaxis.set_major_formatter(lambda value, _: f"{100 * value:+.0f}" if round(100 * value) else "0")
    drawn.suptitle(title, x=0.02, ha="left", fontsize=NORMAL + 2, color=INK)
    drawn.supxlabel(x, fontsize=NORMAL, color=INK)
    return to_png(drawn)


def arm_traces(
    panels: Mapping[str, Sequence[ArmCurve]], title: str, x: str, colours: Mapping[str, str] | None = None
) -> bytes:
    """Draw one panel per measure, each on its own scale: a line per arm. A panel without curves is left out.
    colours: as of `arm_rates`."""
    panels = {name: curves for name, curves in panels.items() if curves}
    drawn, axes = figure(height=4.8)
    if not panels:
        say(axes, NOTHING)
        return to_png(drawn)
    axes.remove()
    colours = colours or colours_of_arms(
        list(dict.fromkeys(curve.arm for curves in panels.values() for curve in curves))
    )
    columns = min(2, len(panels))
    grid = drawn.subplots(-(-len(panels) // columns), columns, squeeze=False)
    for place in range(len(panels), grid.size):
        grid.flat[place].remove()
    for panel, (name, curves) in zip(grid.flat, panels.items(), strict=False):
        for number, item in enumerate(curves):
            mark = MARKERS[number % len(MARKERS)] if len(item.x) <= 20 else ""
            panel.plot(
                item.x,
                item.y,
                color=colours[item.arm],
                linewidth=1.8,
                marker=mark,
                markersize=5,
                label=item.arm,
            )
        dress(panel, name)
        panel.set_ylim(bottom=0)
        _whole_numbers(panel)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    drawn.suptitle(title, x=0.02, ha="left", fontsize=NORMAL + 2, color=INK)
    drawn.supxlabel(x, fontsize=NORMAL, color=INK)
    drawn.legend(handles, labels, fontsize=SMALL, frameon=False, loc="outside right upper")
    return to_png(drawn)


def _of_shares(drawn: Figure, axes: Axes, title: str, x: str, y: str) -> bytes:
    """Return the finished picture of shares per arm, with the arms' names next to it."""
    dress(axes, title, x, y)
    axes.set_ylim(0, 1.02)
    _percent(axes, "y")
    axes.legend(fontsize=SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return to_png(drawn)


def _percent(axes: Axes, which: str) -> None:
    from matplotlib.ticker import PercentFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(np.linspace(0, 1, 6))
    axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _whole_numbers(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=17))


LABEL_UPTO = 12
LEAST = 3


@dataclass(frozen=True)
class RatedPrompt:
    """A rated system prompt: mean and standard deviation of its rating, share of held-out problems solved
    under it with the interval."""

    prompt_id: str
    mu: float
    sigma: float
    score: float
    low: float
    high: float
    champion: bool = False


def rating_against_score(prompts: Sequence[RatedPrompt], title: str) -> bytes:
    """Return the scatter. With three different ratings and scores or more, its title states Spearman's rank
    correlation."""
    drawn, axes = figure(height=4.8)
    if not prompts:
        say(axes, "No prompt has been rated and evaluated yet.")
        return to_png(drawn)
    for prompt in prompts:
        colour = BLUE if prompt.champion else GREEN
        spread = [[prompt.score - prompt.low], [prompt.high - prompt.score]]
        axes.errorbar(
            prompt.mu,
            prompt.score,
            xerr=prompt.sigma,
            yerr=spread,
            color=FAINT,
            linewidth=0.9,
            alpha=0.7,
            zorder=1,
        )
        marker, size = ("*", 14) if prompt.champion else ("o", 7)
        axes.plot(
            prompt.mu, prompt.score, marker=marker, markersize=size, color=colour, linestyle="none", zorder=2
        )
    if len(prompts) <= LABEL_UPTO:
        for prompt in prompts:
            axes.annotate(
                "champion" if prompt.champion else short(prompt.prompt_id, 7),
                (prompt.mu, prompt.score),
                xytext=(6, 5),
                textcoords="offset points",
                fontsize=SMALL,
                path_effects=halo(),
                zorder=3,
            )
    rho = rank_correlation([item.mu for item in prompts], [item.score for item in prompts])
    text = (
        "too few different values for a correlation"
        if rho is None
        else f"Spearman's rank correlation {rho:+.2f}, {len(prompts)} prompts"
    )
    dress(
        axes,
        f"{title}\n{text}",
        "rating (mean, bars: one standard deviation)",
        "share of held-out problems solved (bars: 95%)",
    )
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, -0.02), min(high, 1.02))
    return to_png(drawn)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rho of two samples of one length; None below three values or where one sample is
    constant."""
    if len(first) < LEAST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray:
    """Return the ranks of values, equal values at the mean of theirs. scipy.stats has it, but takes half a
    second to import."""
    _, places, counts = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    return (counts.cumsum() - (counts - 1) / 2)[places]
