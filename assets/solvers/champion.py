"""Who is champion: challengers against the champion in interleaved pairs; and, aside, what the champion is
worth on formulas that no role has seen."""

from __future__ import annotations

from typing import Any

import dagster as dg
import polars as pl

from assets.line import MEASURES_TIME
from assets.solvers.judge import late_verdicts, publish_late
from assets.solvers.line import archive, line, open_workspace, rules_in_force
from assets.solvers.measure import checked
from assets.store import LineStore
from evolake.solvers.tables import CONTEST_FAMILIES, DECISIONS, DUELS, HOLDOUT_RUNS, RACES
from resources.compute import ComputeResource
from resources.lake import LakeResource


@line.asset(schema=DECISIONS, kinds={"bubblewrap"}, metadata={MEASURES_TIME: True})
def champion(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    variants: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """Run the best-ranked challengers, each next to the champion, pair by pair. It takes a gain beyond the
    noise, and no formula lost. A variant that is found unsound is blocked permanently."""
    from evolake.solvers.evolution.population import RankedCycle
    from evolake.solvers.evolution.solver_contest import decide_champion
    from evolake.solvers.gates.judging import objections, stage_judge

    store = LineStore(line, context, lake, compute)
    cycle, population = store.cycle, archive(store)
    contest = store.contest(row["variant_id"] for row in (*population.rows(), *variants.to_dicts()))
    shown: list[str] = []

    def say(text: str) -> None:
        store.log(text)
        shown.append(text)

    result = decide_champion(
        open_workspace(store, population),
        RankedCycle(population, variants.to_dicts(), consensus_ranking.to_dicts()),
        compute.executor(),
        seeds=contest,
        unsound=objections(late_verdicts(store, "benchmark_runs")),
        judge=stage_judge(
            "duel", rules_in_force(store, population), store.blobs, cycle=cycle, run_id=store.run_id
        ),
        say=say,
    )
    publish_late(store, result.verdicts)
    store.reveal(contest)
    store.extra(DUELS, result.trials, "champion_trials")
    store.extra(RACES, result.races, "champion_races")
    store.extra(CONTEST_FAMILIES, result.families)
    details = {f"against_{row['challenger_id'][:12]}": row["reason"] for row in result.decisions}
    store.tell({"champion": result.champion_id, "changed": result.changed, "power": shown[0]} | details)
    return DECISIONS.frame(result.decisions)


def contests(store: LineStore, decisions: pl.DataFrame, variants: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the contests of this cycle as roles may see them."""
    from evolake.solvers.evolution.population import contest_records

    titles = {row["variant_id"]: row["title"] for row in [*archive(store).rows(), *variants.to_dicts()]}
    return contest_records(
        decisions.to_dicts(), store.rows(CONTEST_FAMILIES.name), titles, store.rows(RACES.name)
    )


@line.asset(schema=HOLDOUT_RUNS, kinds={"bubblewrap"}, metadata={MEASURES_TIME: True})
def holdout_runs(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    variants: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Run the champion and its seed on the suite `holdout`, every proof checked. Seen by people only: no
    role, rule or ranking gets these rows. A refuted answer makes its variant unsound permanently: a champion
    falls."""
    from evolake.solvers.evolution.population import RankedCycle
    from evolake.solvers.evolution.solver_contest import measure_holdout
    from evolake.solvers.gates.judging import objections, stage_judge

    store = LineStore(line, context, lake, compute)
    cycle, population = store.cycle, archive(store)
    runs, verdicts = measure_holdout(
        open_workspace(store, population),
        RankedCycle(population, variants.to_dicts(), consensus_ranking.to_dicts()),
        champion.to_dicts(),
        compute.executor(),
        cycle=cycle,
        unsound=objections(late_verdicts(store, "benchmark_runs", "champion")),
        judge=stage_judge(
            "holdout", rules_in_force(store, population), store.blobs, cycle=cycle, run_id=store.run_id
        ),
    )
    publish_late(store, verdicts)
    store.tell(
        {
            "variants": runs["variant_id"].n_unique(),
            "solved": int(runs["solved"].sum()),
            "wrong": runs.filter(pl.col("status") == "wrong").height,
            "checked_share": checked(runs),
        }
    )
    return runs
