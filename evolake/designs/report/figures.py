"""The figures of the designs line, from its archive and consensus to PNG bytes. Used by the assets' metadata and by the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evolake.designs.evolution.population import Population
from evolake.designs.evolution.schedule import is_solved, latest_levels

if TYPE_CHECKING:
    from evolake.designs.report.data import CycleReport
    from evolake.lake import Lake
    from evolake.objectives.tables import LongConsensus


def consensus_figures(ranked: LongConsensus, population: Population) -> dict[str, bytes]:
    """Title -> PNG: agreement between objectives, their weights, and their map."""
    from evolake.objectives.ranks import rank_rows
    from evolake.plots import objective_pca, objective_weights, tau_matrix

    known = {row["objective_id"]: row for row in population.objectives.to_dicts()}
    rows = [known[str(name)] for name in ranked.objective_ids]
    order = sorted(range(len(rows)), key=lambda place: (rows[place]["created_round"], rows[place]["family"], rows[place]["objective_id"]))
    labels = [f"{rows[place]['family']} {rows[place]['objective_id'][:4]}" for place in order]
    families = [rows[place]["family"] for place in order]
    weights = ranked.result.weights[order]
    ranks = rank_rows(ranked.scores).average[order]
    return {
        "Agreement of objectives": tau_matrix(ranked.result.tau[np.ix_(order, order)], labels),
        "Weights of objectives": objective_weights(labels, weights, families, [rows[place]["multiplier"] for place in order]),
        "Map of objectives": objective_pca(ranks, labels, weights, families),
    }


def design_figures(population: Population) -> dict[str, bytes]:
    """Title -> PNG: steps against size with fits, and the genealogy."""
    from evolake.plots import Ancestor, Curve, genealogy, scaling

    rows = {row["design_id"]: row for row in population.designs.to_dicts()}
    by_design: dict[str, list[dict]] = {}
    for row in population.experiment_rows():
        by_design.setdefault(row["design_id"], []).append(row)
    labels = {design_id: f"{rows[design_id]['title']} ({design_id[:6]})" for design_id in rows}
    curves = []
    for design_id, found in sorted(by_design.items()):
        levels = latest_levels(found)
        curves.append(Curve(
            labels[design_id], [level["N"] for level in levels], [level["median_step"] for level in levels], [is_solved(level) for level in levels]
        ))
    champion = population.champion_id()
    seeds = sorted((row["title"] != "baseline", row["title"], row["design_id"]) for row in rows.values() if row["origin"] == "seed")
    baseline = seeds[0][2] if seeds else None
    nodes = [Ancestor(row["design_id"], row["cycle"], row["state"], row["title"]) for row in rows.values()]
    edges = [(parent, child, weight) for child, parent, weight in population.edges()]
    return {
        "Scaling": scaling(curves, labels.get(champion or ""), labels.get(baseline or "") if baseline != champion else None),
        "Genealogy": genealogy(nodes, edges, champion),
    }


def report_figures(lake: Lake, report: CycleReport) -> dict[str, bytes]:
    """All figures of one cycle's report, in the order of the page."""
    from evolake.objectives.tables import rank_long
    from evolake.plots import CycleValues, consensus_trajectory

    scores = lake.read("designs", "final_scores", report.cycle)
    weights = lake.read("designs", "final_ranking_weights", report.cycle)
    created = dict(report.population.objectives.select("objective_id", "created_round").iter_rows())
    multipliers = dict(weights.select("objective_id", "multiplier").iter_rows())
    ranked = rank_long(scores.select("objective_id", "design_id", "score"), created, int(report.cycle), multipliers=multipliers)
    titles = dict(report.population.designs.select("design_id", "title").iter_rows())
    cycles = [
        CycleValues(cycle[0], frame["consensus"].to_list(), titles.get(frame.sort("rank")["design_id"][0], ""))
        for cycle, frame in sorted(report.consensus.group_by("cycle"))
    ]
    return design_figures(report.population) | consensus_figures(ranked, report.population) | {"Consensus by cycle": consensus_trajectory(cycles)}
