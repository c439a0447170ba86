"""Plot task families: passed gates, shares by category, distributions of complexity, difficulty, growth by
cycle, the paper's next to them; and which gate catches how many planted faults of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evolake.plots.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    NORMAL,
    ORANGE,
    PALETTE,
    RED,
    SMALL,
    TITLE,
    dress,
    figure,
    say,
    to_png,
)

WIDE = 10.5
FLATTENS = 3.0
"""A published size that is so many times the largest of ours is said in words: on the axis it would press our
curve flat."""


@dataclass(frozen=True)
class GateRate:
    """One gate: how many came and passed. reference: the share that a published study reports, None where it
    reports none."""

    gate: str
    came: int
    passed: int
    reference: float | None = None


@dataclass(frozen=True)
class Panel:
    """Distributions of one measure: group -> values. references: name -> published mean."""

    measure: str
    groups: Mapping[str, Sequence[float]]
    references: Mapping[str, float] = field(default_factory=dict)
    log: bool = False


def gate_rates(gates: Sequence[GateRate], title: str, reference: str) -> bytes:
    """Return a bar a gate, the share of those that came; a diamond where the study named `reference` reports
    a share."""
    shown = [gate for gate in gates if gate.came]
    drawn, axes = figure(height=1.9 + 0.5 * max(len(shown), 3))
    if not shown:
        say(axes, "Nothing has come to a gate yet.")
        return to_png(drawn)
    places = np.arange(len(shown))[::-1]
    axes.barh(places, [1.0] * len(shown), height=0.62, color="#F1F1F1")
    axes.barh(
        places, [item.passed / item.came for item in shown], height=0.62, color=BLUE, label="passed here"
    )
    known = [
        (place, item.reference)
        for place, item in zip(places, shown, strict=True)
        if item.reference is not None
    ]
    axes.plot(
        [share for _, share in known],
        [place for place, _ in known],
        linestyle="none",
        marker="D",
        markersize=8,
        color=ORANGE,
        markeredgecolor="white",
        label=reference,
    )
    for place, element in zip(places, shown, strict=True):
        axes.text(1.02, place, f"{element.passed} of {element.came}", va="center", fontsize=SMALL, color=INK)
    dress(axes, title, "share of those that came to the gate", grid="x")
    axes.set_yticks(places, [item.gate for item in shown], fontsize=NORMAL)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.16)
    axes.set_xticks(np.linspace(0, 1, 6), [f"{share:.0%}" for share in np.linspace(0, 1, 6)])
    drawn.legend(
        *axes.get_legend_handles_labels(), fontsize=NORMAL, frameon=False, loc="outside lower center", ncols=2
    )
    return to_png(drawn)


def shares(groups: Mapping[str, Mapping[str, float]], title: str) -> bytes:
    """Draw grouped bars: for each category, its share in each group. groups: name -> category -> count; every
    group is scaled to 1."""
    categories = list(dict.fromkeys(name for counts in groups.values() for name in counts))
    filled = {name: counts for name, counts in groups.items() if sum(counts.values())}
    drawn, axes = figure(height=1.8 + 0.2 * max(len(categories) * (len(filled) + 1), 8))
    if not filled:
        say(axes, "No families yet.")
        return to_png(drawn)
    places, height = np.arange(len(categories))[::-1], 0.8 / len(filled)
    for number, (name, counts) in enumerate(filled.items()):
        total = sum(counts.values())
        part = np.array([counts.get(category, 0) / total for category in categories])
        at = places + 0.4 - height * (number + 0.5)
        axes.barh(
            at, part, height=height * 0.9, color=PALETTE[number % len(PALETTE)], label=f"{name} ({total:g})"
        )
        for place, share in zip(at, part, strict=True):
            axes.text(
                share + 0.004,
                place,
                f"{share:.0%}" if share >= 0.01 or not share else "<1%",
                va="center",
                fontsize=SMALL - 1.5,
                color=INK,
            )
    dress(axes, title, "share of the group", grid="x")
    axes.set_yticks(places, categories, fontsize=NORMAL)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    drawn.legend(
        *axes.get_legend_handles_labels(),
        fontsize=SMALL,
        frameon=False,
        loc="outside lower center",
        ncols=len(filled),
    )
    return to_png(drawn)


def distributions(panels: Sequence[Panel], title: str) -> bytes:
    """Return a panel a measure, a box a group: quartiles, whiskers to the 5th and 95th percentile, a dot for
    the mean; published means as lines."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    names = list(
        dict.fromkeys(name for panel in panels for name, values in panel.groups.items() if len(values))
    )
    rows = -(-len(panels) // 2)
    drawn, first = figure(height=1.5 + rows * (1.0 + 0.3 * max(len(names), 3)), width=WIDE)
    if not names:
        say(first, "Nothing has been measured yet.")
        return to_png(drawn)
    drawn.clear()
    drawn.suptitle(title, fontsize=TITLE, color=INK, x=0.01, ha="left")
    published = list(dict.fromkeys(name for panel in panels for name in panel.references))
    colours = dict(zip(published, (INK, *[PALETTE[place] for place in (1, 3, 5, 2)]), strict=False))
    grid = drawn.subplots(rows, 2, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for place, (axes, panel) in enumerate(zip(grid.flat, panels, strict=False)):
        given = [panel.groups.get(name, ()) for name in names]
        where = [len(names) - number for number, values in enumerate(given) if len(values)]
        axes.boxplot(
            [values for values in given if len(values)],
            positions=where,
            orientation="horizontal",
            widths=0.62,
            whis=(5, 95),
            showfliers=False,
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": "#CFE3F1", "edgecolor": BLUE},
            medianprops={"color": BLUE, "linewidth": 2},
            whiskerprops={"color": BLUE},
            capprops={"color": BLUE},
            meanprops={
                "marker": "o",
                "markerfacecolor": GREEN,
                "markeredgecolor": "white",
                "markersize": 5.5,
            },
        )
        for name, value in panel.references.items():
            axes.axvline(value, color=colours[name], linewidth=1.5, linestyle=(0, (4, 2)))
        dress(axes, "", panel.measure, grid="x")
        if panel.log:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.set_yticks(
            range(len(names), 0, -1), names if place % 2 == 0 else [""] * len(names), fontsize=SMALL
        )
        axes.set_ylim(0.4, len(names) + 0.6)
    marks = [
        Line2D([], [], linestyle="none", marker="o", color=GREEN, markeredgecolor="white", label="mean here")
    ]
    marks += [Line2D([], [], color=colours[name], linestyle=(0, (4, 2)), label=name) for name in published]
    drawn.legend(handles=marks, fontsize=SMALL, frameon=False, loc="outside lower center", ncols=len(marks))
    return to_png(drawn)


@dataclass(frozen=True)
class Curve:
    """One group of families: points (difficulty, lower, median, upper), quartiles of what is measured."""

    name: str
    points: Sequence[tuple[int, float, float, float]]


def difficulty(
    curves: Sequence[Curve], passed: Sequence[tuple[int, float, float, float]], title: str
) -> bytes:
    """Draw executed work by difficulty, a line per group with its middle half; next to it the share of right
    replies of a policy.

    passed: (difficulty, share, lower and upper end of its interval); empty if no policy was asked, which is
    then said.
    """
    shown = [curve for curve in curves if curve.points]
    drawn, first = figure(height=4.4, width=WIDE)
    if not shown:
        say(first, "No family has been measured yet.")
        return to_png(drawn)
    drawn.clear()
    drawn.suptitle(title, fontsize=TITLE, color=INK, x=0.01, ha="left")
    work, replies = drawn.subplots(1, 2, width_ratios=(3, 2))
    for number, curve in enumerate(shown):
        x, lower, median, upper = np.array(curve.points, dtype=float).T
        colour = PALETTE[number % len(PALETTE)]
        work.fill_between(x, lower, upper, color=colour, alpha=0.15, linewidth=0)
        work.plot(x, median, color=colour, linewidth=2, marker="o", markersize=5, label=curve.name)
    work.set_yscale("symlog", linthresh=1)
    work.set_xticks(sorted({point[0] for curve in shown for point in curve.points}))
    dress(work, "", "difficulty", "executed lines of the primary validator", grid="y")
    work.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if passed:
        x, share, low, high = np.array(passed, dtype=float).T
        replies.plot(x, share, color=INK, linewidth=2, marker="o", markersize=5)
        replies.fill_between(x, low, high, color=INK, alpha=0.12, linewidth=0)
        dress(replies, "", "difficulty", "share of a policy's replies that are right", grid="y")
        replies.set_xticks(x)
        replies.set_ylim(0, 1)
        replies.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    else:
        say(replies, "No policy has been asked.")
    drawn.legend(
        *work.get_legend_handles_labels(),
        fontsize=SMALL,
        frameon=False,
        loc="outside lower center",
        ncols=len(shown),
    )
    return to_png(drawn)


def growth(
    cycles: Sequence[str],
    families: Sequence[int],
    instances: Sequence[int],
    references: Mapping[str, tuple[int, int]],
) -> bytes:
    """Draw families and instances that there are after each cycle. references: name -> (families, instances)
    of a published study: as lines where they do not press the curve flat, else in words."""
    drawn, first = figure(height=4.2, width=WIDE)
    if not cycles:
        say(first, "No cycle is finished yet.")
        return to_png(drawn)
    drawn.clear()
    x = np.arange(len(cycles))
    step = max(1, -(-len(cycles) // 12))
    for number, (axes, values, name) in enumerate(
        zip(drawn.subplots(1, 2), (families, instances), ("families", "instances"), strict=True)
    ):
        axes.plot(x, values, color=BLUE, linewidth=2, marker="o", markersize=5)
        axes.text(
            x[-1], values[-1], f"{values[-1]:,}  ", ha="right", va="bottom", fontsize=NORMAL, color=BLUE
        )
        near = {
            said: ref[number] for said, ref in references.items() if ref[number] <= FLATTENS * max(values)
        }
        far = {said: ref[number] for said, ref in references.items() if said not in near}
        for said, reference in near.items():
            axes.axhline(reference, color=FAINT, linewidth=1.1, linestyle=(0, (4, 2)))
            passed = (
                values[-1] > reference
            )  # where the curve is not: below the line at the right, or above it at the left
            place, across, up = (x[-1], "right", "top") if passed else (0, "left", "bottom")
            axes.text(place, reference, f"{said}: {reference:,}", ha=across, va=up, fontsize=SMALL, color=INK)
        beyond = "".join(
            f"\n{said}: {reference:,}, {reference / max(*values, 1):.2g} times as many"
            for said, reference in far.items()
        )
        dress(axes, f"{name.capitalize()} after each cycle{beyond}", "cycle", "", grid="y")
        axes.set_xticks(x[::step], list(cycles)[::step], fontsize=SMALL)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.set_xlim(-0.4, max(len(cycles) - 0.6, 0.6))
        axes.set_ylim(bottom=0, top=max([*values, *near.values(), 1]) * 1.15)
    return to_png(drawn)


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
