"""Plot the objective portfolio (who agrees with whom, who has a say, who looks alike), and the consensus
cycle by cycle: where the population is and where the best is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evolake.plots.style import (
    BLUE,
    FAINT,
    INK,
    NORMAL,
    SMALL,
    WIDTH,
    colours_of,
    dress,
    figure,
    halo,
    say,
    to_png,
    wrapped,
)

ANNOTATE_UPTO = 14
LABEL_UPTO = 45
LABEL_WIDTH = 22
LETTER = 0.06
"""Inches that a letter of an upright label takes."""


def tau_matrix(tau: np.ndarray, labels: Sequence[str]) -> bytes:
    """Draw Kendall tau between all pairs of objectives, (K, K) in [-1, 1], as a heat map: red agrees, blue
    contradicts."""
    k = len(labels)
    room = LETTER * _longest(labels)
    height = min(8.0, max(4.5, 1.8 + 0.36 * k)) + room
    drawn, axes = figure(height, width=min(WIDTH, height + 1.2))
    if not k:
        say(axes, "No objectives yet.")
        return to_png(drawn)
    image = axes.imshow(
        np.asarray(tau), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest", aspect="equal"
    )
    dress(axes, "Agreement between objectives (Kendall tau)", grid=None)
    _ticks(axes, labels)
    if k <= ANNOTATE_UPTO:
        for i in range(k):
            for j in range(k):
                colour = "white" if abs(tau[i, j]) > 0.65 else INK
                axes.text(
                    j,
                    i,
                    f"{tau[i, j]:.2f}".replace("-0.00", "0.00"),
                    ha="center",
                    va="center",
                    fontsize=SMALL - 1,
                    color=colour,
                )
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    bar.ax.tick_params(labelsize=SMALL)
    bar.set_label("tau", fontsize=NORMAL)
    return to_png(drawn)


def objective_weights(
    labels: Sequence[str],
    weights: Sequence[float] | np.ndarray,
    families: Sequence[str],
    multipliers: Sequence[float] | np.ndarray | None = None,
) -> bytes:
    """Draw consensus weights, one bar per objective in the order given, coloured by family; above a bar is
    the multiplier of the meta review, if it is below 1."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    k = len(labels)
    drawn, axes = figure(height=4.6 + LETTER * _longest(labels))
    if not k:
        say(axes, "No objectives yet.")
        return to_png(drawn)
    colours = colours_of(families)
    axes.bar(range(k), weights, color=[colours[family] for family in families], width=0.8)
    dress(
        axes,
        "Weight of each objective in the consensus",
        "objective, in order of creation",
        "weight",
        grid="y",
    )
    _x_ticks(axes, labels)
    axes.set_xlim(-0.7, k - 0.3)
    axes.axhline(1 / k, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    handles: list = [Patch(color=colour, label=family) for family, colour in colours.items()]
    handles.append(Line2D([], [], color=INK, linewidth=1, linestyle=(0, (4, 3)), label="equal weights"))
    lowered = {
        place: value for place, value in enumerate(() if multipliers is None else multipliers) if value < 1
    }
    for i, value in lowered.items():
        axes.annotate(
            f"×{value:.2g}",
            (i, weights[i]),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=90,
            fontsize=SMALL - 1,
            color=INK,
        )
    if lowered:
        axes.margins(y=0.15)
        handles.append(Line2D([], [], linestyle="none", label="×0.7: multiplied by\nthe meta review"))
    axes.legend(handles=handles, fontsize=SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return to_png(drawn)


def objective_pca(
    ranks: np.ndarray, labels: Sequence[str], weights: Sequence[float] | np.ndarray, families: Sequence[str]
) -> bytes:
    """Draw objectives in the plane that shows most of how their rankings differ; (K, n) ranks. Near each
    other: they rank alike. Larger: more weight."""
    from matplotlib.lines import Line2D

    k = len(labels)
    drawn, axes = figure(height=5.4)
    if k < 2:
        say(axes, "A map needs at least two objectives.")
        return to_png(drawn)
    points, explained = principal_plane(np.asarray(ranks))
    colours = colours_of(families)
    share = np.asarray(weights) / max(float(np.max(weights)), 1e-12)
    axes.axhline(0, color=FAINT, linewidth=0.7, zorder=0)
    axes.axvline(0, color=FAINT, linewidth=0.7, zorder=0)
    area = 30 + 270 * share
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=area,
        c=[colours[family] for family in families],
        alpha=0.75,
        linewidths=1,
        edgecolors="white",
    )
    title = "Map of objectives (principal components of their rankings)"
    dress(
        axes,
        title,
        f"first component, {explained[0]:.0%} of the variance",
        f"second, {explained[1]:.0%}",
        grid=None,
    )
    axes.margins(0.12)
    for i in _labelled(points, share, 0.013 * max(len(label) for label in labels)):
        axes.annotate(
            labels[i],
            points[i],
            xytext=(0, np.sqrt(area[i]) / 2 + 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=SMALL - 1,
            color=INK,
            path_effects=halo(),
        )
    handles = [
        Line2D([], [], marker="o", linestyle="none", color=colour, markersize=8, label=family)
        for family, colour in colours.items()
    ]
    axes.legend(handles=handles, fontsize=SMALL, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return to_png(drawn)


def principal_plane(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates (K, 2) of standardized rank vectors on their first two principal components, and the
    shares (2,) of variance those explain.

    Each objective's ranks are first brought to mean 0 and spread 1 (a constant one stays 0). The largest
    coordinate of a component is positive.
    """
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    standard = np.divide(centred, spread, out=np.zeros_like(centred, dtype=np.float64), where=spread > 0)
    standard = standard - standard.mean(axis=0)
    left, singular, _ = np.linalg.svd(standard, full_matrices=False)
    points = np.zeros((len(ranks), 2))
    explained = np.zeros(2)
    total = float((singular**2).sum())
    for component in range(min(2, len(singular))):
        if total <= 1e-12:
            break
        column = left[:, component] * singular[component]
        points[:, component] = column * (1.0 if column[np.argmax(np.abs(column))] >= 0 else -1.0)
        explained[component] = singular[component] ** 2 / total
    return points, explained


def _labelled(points: np.ndarray, share: np.ndarray, width: float) -> list[int]:
    """Return which points get a label: the heaviest first, leaving out those that would print over another.
    width: of a label, as a share of the axes.
    """
    size = np.maximum(np.ptp(points, axis=0), 1e-9)
    chosen: list[int] = []
    for i in np.argsort(-share, kind="stable"):
        if all(
            abs(points[i, 0] - points[j, 0]) / size[0] > width
            or abs(points[i, 1] - points[j, 1]) / size[1] > 0.05
            for j in chosen
        ):
            chosen.append(int(i))
    return chosen


def _ticks(axes, labels: Sequence[str]) -> None:
    _x_ticks(axes, labels)
    step = max(1, -(-len(labels) // LABEL_UPTO))
    axes.set_yticks(
        range(0, len(labels), step),
        [wrapped(label, LABEL_WIDTH) for label in labels[::step]],
        fontsize=_label_size(len(labels)),
    )


def _x_ticks(axes, labels: Sequence[str]) -> None:
    longest = _longest(labels)
    upright = longest > 3
    step = max(1, -(-len(labels) // (28 if longest == 3 else LABEL_UPTO)))
    names = [wrapped(label, LABEL_WIDTH) for label in labels[::step]]
    axes.set_xticks(
        range(0, len(labels), step), names, fontsize=_label_size(len(labels)), rotation=90 if upright else 0
    )


def _longest(labels: Sequence[str]) -> int:
    """Letters of the longest line of a label on an axis."""
    return max(
        (len(line) for label in labels for line in wrapped(label, LABEL_WIDTH).splitlines()), default=0
    )


def _label_size(count: int) -> float:
    return SMALL if count <= 25 else SMALL - 2


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
