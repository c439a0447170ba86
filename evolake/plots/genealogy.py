"""Who descends from whom: one column per cycle, the champion's ancestry in light blue, the line of its main
parents in dark blue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.plots.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    NORMAL,
    RED,
    SKY,
    SMALL,
    dress,
    figure,
    halo,
    say,
    to_png,
    wrapped,
)

SWEEPS = 8
LABEL_UPTO = 40

STATES = {
    "accepted": (GREEN, "o"),
    "blocked": (RED, "X"),
    "retired": (FAINT, "o"),
    "candidate": (FAINT, "s"),
    "champion": (BLUE, "*"),
}


@dataclass(frozen=True)
class Ancestor:
    """A design in the genealogy. state: candidate, blocked, accepted, champion or retired."""

    design_id: str
    cycle: str
    state: str = "accepted"
    title: str = ""


def genealogy(
    designs: Sequence[Ancestor],
    edges: Sequence[tuple[str, str, float]],
    champion: str | None = None,
    column: str = "cycle",
) -> bytes:
    """Draw layered picture of a lineage.

    Args:
        designs: nodes, one column per cycle. edges: (parent id, child id, weight), thicker for a larger
            weight; those to unknown designs are omitted.
        champion: whose ancestors are highlighted. column: what a column is.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    columns = sorted({design.cycle for design in designs})
    layers = {cycle: [design.design_id for design in designs if design.cycle == cycle] for cycle in columns}
    tallest = max((len(layer) for layer in layers.values()), default=0)
    drawn, axes = figure(height=min(9.0, 3.5 + 0.22 * tallest))
    if not designs:
        say(axes, "No designs yet.")
        return to_png(drawn)
    known = {design.design_id for design in designs}
    lines = [(parent, child, weight) for parent, child, weight in edges if parent in known and child in known]
    place = lay_out(
        list(layers.values()),
        [(parent, child) for parent, child, _ in sorted(lines, key=lambda edge: -edge[2])],
    )
    family = ancestry(champion, lines) if champion in known else set()
    line = main_line(champion, lines) if family else []
    main = set(zip(line[1:], line, strict=False))
    slim = min(1.0, 20 / max(tallest, 1))
    for rank, (colour, broad, alpha) in enumerate(
        ((FAINT, 1.6 * slim, 0.35), (SKY, 2.2 * slim, 0.75), (BLUE, 4.0 * max(slim, 0.7), 0.95))
    ):
        chosen = [edge for edge in lines if _rank(edge[:2], main, family) == rank]
        segments = [[place[parent], place[child]] for parent, child, _ in chosen]
        widths = [0.35 + broad * float(weight) for *_, weight in chosen]
        axes.add_collection(
            LineCollection(segments, linewidths=widths, colors=colour, alpha=alpha, zorder=1 + rank / 2)
        )
    size = float(np.clip(900 / max(tallest, 1), 12, 90))
    shown = {champion: "champion"} if champion else {}
    for design in designs:
        state = shown.get(design.design_id, design.state)
        colour, marker = STATES.get(state, (FAINT, "o"))
        x, y = place[design.design_id]
        strong = design.design_id in family
        if design.design_id in line:
            rim = BLUE
        elif strong:
            rim = SKY
        else:
            rim = "white"
        axes.scatter(
            x,
            y,
            s=size * (3.2 if state == "champion" else 1.0),
            c=colour,
            marker=marker,
            zorder=4 if strong else 3,
            edgecolors=rim,
            linewidths=1.6 if strong else 0.6,
            alpha=1.0 if strong or not family else 0.65,
        )
    if len(family or known) <= LABEL_UPTO and tallest <= LABEL_UPTO:
        for design in designs:
            if design.design_id in family or not family:
                x, y = place[design.design_id]
                text = wrapped(design.title or design.design_id, 18)
                axes.annotate(
                    text,
                    (x, y),
                    xytext=(0, -9),
                    textcoords="offset points",
                    fontsize=SMALL - 1.5,
                    ha="center",
                    va="top",
                    color=INK,
                    path_effects=halo(),
                    zorder=5,
                )
    dress(
        axes,
        f"Genealogy by {column}"
        + (", the champion's ancestry in blue, its main line dark" if family else ""),
        column,
        grid=None,
    )
    step = max(1, -(-len(columns) // 20))
    axes.set_xticks(range(0, len(columns), step), columns[::step], fontsize=SMALL)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(-0.06, 1.03)
    states = [
        state
        for state in STATES
        if any(shown.get(design.design_id, design.state) == state for design in designs)
    ]
    handles = [
        Line2D(
            [],
            [],
            color=STATES[state][0],
            marker=STATES[state][1],
            linestyle="none",
            markersize=12 if state == "champion" else 8,
            label=state,
        )
        for state in states
    ]
    axes.legend(
        handles=handles, fontsize=NORMAL - 1, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0)
    )
    return to_png(drawn)


def ancestry(champion: str | None, edges: Sequence[tuple[str, str, float]]) -> set[str]:
    """Return the champion and all its ancestors."""
    parents: dict[str, list[str]] = defaultdict(list)
    for parent, child, _ in edges:
        parents[child].append(parent)
    result: set[str] = set()
    waiting = [champion] if champion is not None else []
    while waiting:
        design = waiting.pop()
        if design not in result:
            result.add(design)
            waiting.extend(parents[design])
    return result


def main_line(champion: str | None, edges: Sequence[tuple[str, str, float]]) -> list[str]:
    """Return the champion, its weightiest parent, that one's weightiest parent, and so on; of equal weights
    the smaller id."""
    weightiest: dict[str, tuple[float, str]] = {}
    for parent, child, weight in edges:
        weightiest[child] = min(weightiest.get(child, (1.0, "")), (-float(weight), parent))
    line = [champion] if champion is not None else []
    while line and line[-1] in weightiest and weightiest[line[-1]][1] not in line:
        line.append(weightiest[line[-1]][1])
    return line


def _rank(edge: tuple[str, str], main: set[tuple[str, str]], family: set[str]) -> int:
    if edge in main:
        return 2
    if edge[0] in family and edge[1] in family:
        return 1
    return 0


def lay_out(
    layers: Sequence[Sequence[str]], edges: Sequence[tuple[str, str]]
) -> dict[str, tuple[float, float]]:
    """Return places (column, height in 0..1) with few crossings: each column is sorted by the mean height of
    its neighbours, sweeping to and fro (barycentre rule of Sugiyama, Tagawa and Toda 1981). In the end the
    children of one parent, the first in `edges`, are put side by side.
    """
    neighbours: dict[str, list[str]] = defaultdict(list)
    for parent, child in edges:
        neighbours[parent].append(child)
        neighbours[child].append(parent)
    column = {design: x for x, layer in enumerate(layers) for design in layer}
    parents = {child: parent for parent, child in reversed(edges)}
    order = [sorted(layer) for layer in layers]
    height = {design: y for layer in order for design, y in zip(layer, _heights(len(layer)), strict=True)}
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for x in range(len(order)) if forward else range(len(order) - 1, -1, -1):
            means = {}
            for design in order[x]:
                beside = [
                    height[other]
                    for other in neighbours[design]
                    if (column[other] < x if forward else column[other] > x)
                ]
                means[design] = sum(beside) / len(beside) if beside else height[design]
            order[x] = sorted(order[x], key=lambda design: (means[design], design))
            height |= dict(zip(order[x], _heights(len(order[x])), strict=True))
    for layer in order:
        height |= dict(zip(_siblings_together(layer, parents, height), _heights(len(layer)), strict=True))
    return {design: (float(column[design]), height[design]) for design in column}


def _siblings_together(
    layer: Sequence[str], parents: Mapping[str, str], height: Mapping[str, float]
) -> list[str]:
    """Return a column with the children of one first parent side by side, families by their mean height."""
    families: dict[str, list[str]] = defaultdict(list)
    for design in layer:
        families[parents.get(design, design)].append(design)
    means = {
        name: sum(height[member] for member in members) / len(members) for name, members in families.items()
    }
    return [
        design for name in sorted(families, key=lambda name: (means[name], name)) for design in families[name]
    ]


def _heights(count: int) -> list[float]:
    return [1 - (place + 0.5) / count for place in range(count)][::-1]
