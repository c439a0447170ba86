"""Objectives, their scores, and the consensus; once after low fidelity, once after the promoted
experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.designs.line import archive, jails, line, rules, so_far
from assets.designs.records import arrived_bundles
from assets.pictures import figures_of
from assets.store import LineStore
from evolake.designs.evolution.gate_specs import OBJECTIVE
from evolake.designs.evolution.scoring import consensus_from, ranking_rows, score_rows, weight_rows
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import OBJECTIVES, RANKING, SCORES, WEIGHTS
from resources.agents import AgentsResource
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.designs.evolution.judging_objectives import JudgeObjective
    from evolake.designs.evolution.objective_writing import Written
    from evolake.designs.evolution.population import Population


@line.asset(
    deps=["candidates", rules], gates=[OBJECTIVE.name], schema=OBJECTIVES, kinds={"python", "bubblewrap"}
)
def objectives(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    jail: JailResource,
    experiments: pl.DataFrame,
) -> pl.DataFrame:
    """Create new objectives of this cycle, each tried in the jail on the results at hand: what merges and
    imports have brought, and what the writer makes.

    The first cycle draws the portfolio that the line starts with.
    """
    from evolake.designs.evolution.importing import imported_objectives
    from evolake.designs.evolution.judging_objectives import consensus_at, objective_judge, trial_context
    from evolake.designs.evolution.objective_writing import (
        derivation_rows,
        initial_objectives,
        judged_rows,
        write_objectives,
    )
    from evolake.designs.evolution.scoring import live_objectives

    store = LineStore(line, context, lake)
    cycle, settings, population = store.cycle, store.settings, so_far(store, "candidates", "experiments")
    own, starts = settings.of(DesignsSettings), population.objectives.is_empty()
    trial = trial_context(population.results(), live_objectives(population), jails(jail))
    judge = objective_judge(
        trial, jails(jail), ruleset=store.rules(), cycle=cycle, run_id=store.run_id, keep=store.blobs.put
    )
    initial = initial_objectives(own, cycle=cycle, root_seed=settings.seed) if starts else []
    done = [
        judged_rows(initial, judge, starting=True),
        _merged(store, population.add(objectives=initial), judge),
    ]
    with store.roles(agents) as served:
        if not starts:
            done.append(
                write_objectives(
                    served,
                    population.add(objectives=done[-1].rows),
                    judge,
                    settings=own,
                    seeds=store.seeds,
                    origin=settings.backend,
                    scored=consensus_at(trial, population, cycle),
                )
            )
    known = population.add(objectives=[row for part in done for row in part.rows])
    done.append(judged_rows(imported_objectives(store.lake, known, arrived_bundles(store), cycle), judge))
    rows = [row for part in done for row in part.rows]
    store.artifacts(row | {"source_sha": store.blobs.put(row["source"].encode())} for row in rows)
    store.derivations(derivation_rows(rows))
    store.verdicts(verdict for part in done for verdict in part.verdicts)
    store.tell(
        {
            "accepted": sum(row["state"] == "accepted" for row in rows),
            "blocked": sum(row["state"] == "blocked" for row in rows),
            "merged": len(done[1].rows),
            "failed_calls": sum(len(part.failures) for part in done),
            "backend": settings.backend,
            "measured_designs": experiments["design_id"].n_unique(),
        }
    )
    return OBJECTIVES.frame(rows)


def _merged(store: LineStore, population: Population, judge: JudgeObjective) -> Written:
    """Return the objectives of the bundles that this cycle takes in, through their gate."""
    from evolake.designs.evolution.merge import admitted_objectives, entered_merges
    from evolake.designs.evolution.objective_writing import Written, judged_rows

    bundles = entered_merges(store.lake, archive(store), so_far(store), store.cycle)
    voted, ancestors = admitted_objectives(store.lake, population, bundles, store.cycle)
    judged = judged_rows(voted, judge)
    return Written([*ancestors, *judged.rows], judged.verdicts, [])


@line.asset(deps=["candidates", "experiments"], schema=SCORES, kinds={"bubblewrap"})
def objective_scores(
    context: dg.AssetExecutionContext, lake: LakeResource, jail: JailResource, objectives: pl.DataFrame
) -> pl.DataFrame:
    """Every objective on every live design, with the low-fidelity results of this cycle. A missing score
    counts as worst."""
    store = LineStore(line, context, lake)
    return scored(
        store,
        jail,
        so_far(store, "candidates", "experiments", "objectives"),
        "low",
        {"new_objectives": objectives.height},
    )


@line.asset(deps=["candidates", "experiments", "objectives"], schema=RANKING)
def consensus_ranking(
    context: dg.AssetExecutionContext, lake: LakeResource, objective_scores: pl.DataFrame
) -> pl.DataFrame:
    """Compute the consensus after low fidelity, which decides who is promoted."""
    store = LineStore(line, context, lake)
    return ranked_by(store, so_far(store, "candidates", "experiments", "objectives"), objective_scores)


def scored(
    store: LineStore, jail: JailResource, population: Population, fidelity: str, more: dict[str, Any]
) -> pl.DataFrame:
    """Return rows of SCORES: every live objective on every live design."""
    from evolake.designs.evolution.scoring import live_objectives

    voting = live_objectives(population)
    if not voting:
        raise dg.Failure(
            "no objective is left to judge the designs: every one was blocked. See why: "
            "evolake sql \"SELECT * FROM verdicts WHERE gate = 'objective'\"",
            allow_retries=False,
        )
    rows = score_rows(jails(jail), population, voting, store.cycle, fidelity)
    store.tell(
        more | {"objectives": len(voting), "missing_scores": sum(row["score"] is None for row in rows)}
    )
    return SCORES.frame(rows)


def ranked_by(store: LineStore, population: Population, scores: pl.DataFrame) -> pl.DataFrame:
    """Return rows of RANKING from rows of SCORES; publishes the weights that made it."""
    from evolake.designs.report.material import FIGURES, Material

    cycle, stage = store.cycle, store.asset
    ranked = consensus_from(scores, population, cycle)
    frame = RANKING.frame(ranking_rows(ranked, population, cycle))
    store.extra(WEIGHTS, weight_rows(ranked, population, cycle, stage), f"{stage}_weights")
    first = population.row(str(ranked.order[0]))
    drawn = figures_of(FIGURES, Material(population, lambda: ranked), "final_ranking")
    store.tell({"first": first["title"], "first_id": first["design_id"]} | drawn)
    return frame
