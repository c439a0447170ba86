"""The figures of the designs line, from its archive and consensus (`material.Material`) to PNG bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evolake.designs.evolution.schedule import is_solved, latest_levels
from evolake.designs.report.material import Material, baseline_of, voting_objectives
from evolake.designs.report.supplement_champion import by_size
from evolake.designs.work.rows import median_work
from evolake.report.figures import Figure

if TYPE_CHECKING:
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.report.scaling_plots import Response


CLAUSES = 81
LONG, SHORT = "xl", "xs"
LEVELS = (1.0, 100.0, 10_000.0)
"""Of the long-term memory, where a design has it: at the start, and for clauses that stay violated."""
AT_SHORT = 0.05
"""Of the short-term memory, as in panel (f) of the paper's figure."""


def draw_champion_memory(material: Material) -> bytes:
    """Draw a panel per memory of the champion, next to the baseline's: like figure S1 of the paper's
    supplement, for any design.

    The gates of the paper's design can be drawn one by one, since it is known which they are. Of any design
    one can say how fast each memory of a clause moves, so that is drawn: against how far the clause is from
    satisfied, for one that was violated for a short time, for long, and for very long. The graph is asked,
    nothing is simulated.
    """
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.report.scaling_plots import responses

    population, result = material.population, []
    champion, baseline = population.champion_id, baseline_of(population)
    for role, name in (("champion", champion), ("baseline", baseline)):
        if name is not None and not (role == "baseline" and name == champion):
            row = population.row(name)
            result += responses_of(
                TracedDesign.from_json(json.loads(material.texts(row["traced_sha"]))), role
            )
    wanted = {item.memory for item in result if item.role == "champion"}
    return responses(
        [item for item in result if item.memory in wanted],
        f"How fast each memory of a clause moves, with {SHORT} at {AT_SHORT:g}",
    )


def responses_of(traced: TracedDesign, role: str) -> list[Response]:
    """Return one per memory and level; none of a design that cannot be asked."""
    from evolake.designs.engines.reference import ReferenceStepper
    from evolake.designs.model.instances import Planted
    from evolake.designs.model.stepper import Failed
    from evolake.designs.report.scaling_plots import Response

    c = np.linspace(0.0, 1.0, CLAUSES)
    idx = np.arange(3 * CLAUSES, dtype=np.int32).reshape(1, CLAUSES, 3)
    apart = Planted(
        idx,
        np.ones_like(idx, dtype=np.int8),
        np.ones((1, 3 * CLAUSES), dtype=np.int8),
        3 * CLAUSES,
        CLAUSES,
        0,
    )
    names = {variable.name for variable in traced.variables}
    memories = [variable.name for variable in traced.variables if tuple(variable.shape) == ("B", "M")]
    result = []
    for level in LEVELS if LONG in names else LEVELS[:1]:
        try:
            stepper = ReferenceStepper(traced, apart, 0, "float64")
            stepper.put(
                "v",
                np.stack([1 - 2 * c, np.full_like(c, -1.0), np.full_like(c, -1.0)], axis=1).reshape(1, -1),
            )
            for name, value in ((LONG, level), (SHORT, AT_SHORT)):
                if name in memories:
                    stepper.put(name, np.full((1, CLAUSES), value))
            rates = stepper.rates(0)
        except Failed:
            return []
        text = f"{LONG} = {level:,.0f}" if LONG in names else ""
        result += [Response(name, role, text, c, rates[name].reshape(-1)) for name in memories]
    return result


def draw_consensus_by_cycle(material: Material) -> bytes:
    """Draw one column per cycle, the first design named."""
    from evolake.designs.report.objective_plots import CycleValues, consensus_trajectory

    titles = dict(material.population.designs.select("design_id", "title").iter_rows())
    return consensus_trajectory(
        [
            CycleValues(
                str(cycle), frame["consensus"].to_list(), titles.get(frame.sort("rank")["design_id"][0], "")
            )
            for (cycle,), frame in sorted(material.consensus().group_by("cycle"))
        ]
    )


def draw_genealogy(material: Material) -> bytes:
    """Return every design, the champion's ancestry marked."""
    from evolake.plots import Ancestor, genealogy

    population = material.population
    nodes = [
        Ancestor(row["design_id"], row["cycle"], row["state"], row["title"])
        for row in population.designs.to_dicts()
    ]
    edges = [(parent, child, weight) for child, parent, weight in population.edges()]
    return genealogy(nodes, edges, population.champion_id)


def draw_objectives_agreement(material: Material) -> bytes:
    """Return a matrix, objectives by round of creation."""
    from evolake.designs.report.objective_plots import tau_matrix

    voting = voting_objectives(material)
    return tau_matrix(voting.tau, voting.labels)


def draw_objectives_map(material: Material) -> bytes:
    """Return a dot per objective, as large as its weight."""
    from evolake.designs.report.objective_plots import objective_pca

    voting = voting_objectives(material)
    return objective_pca(voting.ranks, voting.labels, voting.weights, voting.families)


def draw_objectives_weights(material: Material) -> bytes:
    """Return a bar per objective, with the multiplier of its review."""
    from evolake.designs.report.objective_plots import objective_weights

    voting = voting_objectives(material)
    return objective_weights(voting.labels, voting.weights, voting.families, voting.multipliers)


def draw_scaling(material: Material) -> bytes:
    """Draw one curve per design that was run; the champion and the baseline are highlighted."""
    return draw_by(
        material,
        median_work,
        "work",
        "Median work to a solution by instance size",
        "median work (steps of the baseline)",
    )


def draw_by(
    material: Material, cost: Callable[[Mapping[str, Any]], float | None], short: str, title: str, axis: str
) -> bytes:
    """Return the curves of any cost of a level. cost: None where a level has none. short: what the fit calls
    it."""
    from evolake.designs.report.scaling_plots import Curve, scaling

    population = material.population
    rows = {row["design_id"]: row for row in population.designs.to_dicts()}
    by_design: dict[str, list[dict[str, Any]]] = {}
    for row in population.experiment_rows():
        by_design.setdefault(row["design_id"], []).append(row)
    labels = {design_id: f"{rows[design_id]['title']} ({design_id[:6]})" for design_id in rows}
    curves = []
    for design_id, result in sorted(by_design.items()):
        points = [
            (level["N"], value, is_solved(level))
            for level in latest_levels(result)
            if (value := cost(level)) is not None
        ]
        if points:
            n, values, solved = zip(*points, strict=True)
            curves.append(Curve(labels[design_id], n, values, solved))
    champion = population.champion_id
    baseline = baseline_of(population)
    return scaling(
        curves,
        labels.get(champion or ""),
        labels.get(baseline or "") if baseline != champion else None,
        short=short,
        title=title,
        axis=axis,
    )


def draw_scaling_steps(material: Material) -> bytes:
    """Draw one curve per design that was run, in steps; what decides is work."""
    return draw_by(
        material,
        lambda level: float(level["median_step"]),
        "steps",
        "Median steps to a solution by instance size",
        "median steps",
    )


def draw_speedup(material: Material) -> bytes | None:
    """Draw how many times less work, at every size that both were run at, like figure S3(b) of the paper's
    supplement."""
    from evolake.designs.report.scaling_plots import speedup

    champion = material.population.champion_id
    frame = by_size(material.population, champion) if champion else None
    rows = frame.to_dicts() if frame is not None else []
    return speedup(
        [(row["N"], row["times_less"], row["baseline_solved"] and row["champion_solved"]) for row in rows]
    )


FIGURES = (
    Figure("Scaling", draw_scaling, order=1, asset="survivors"),
    Figure("Genealogy", draw_genealogy, order=2, asset="survivors"),
    Figure("Agreement of objectives", draw_objectives_agreement, order=3, asset="final_ranking"),
    Figure("Weights of objectives", draw_objectives_weights, order=4, asset="final_ranking"),
    Figure("Map of objectives", draw_objectives_map, order=5, asset="final_ranking"),
    Figure("Consensus by cycle", draw_consensus_by_cycle, order=6),
    Figure("What the champion's memories do", draw_champion_memory, place="supplement", order=20),
    Figure("Champion against baseline", draw_speedup, place="supplement", order=21),
    Figure("Scaling in steps", draw_scaling_steps, place="supplement", order=22),
)
