"""The closing of a cycle: who lives on, results written back into the repositories, and the population that
enters the next one."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.pictures import figures_of
from assets.solvers.champion import contests
from assets.solvers.checks import GUARDS
from assets.solvers.learn import verdict_rows
from assets.solvers.line import archive, line, open_workspace
from assets.store import LineStore
from evolake.lake import DERIVATIONS
from evolake.solvers.tables import VARIANTS
from resources.compute import ComputeResource
from resources.lake import LakeResource


@line.asset(
    deps=["objectives", "compliance", "binaries", "smoke", "correctness", "rule_proposals"], schema=VARIANTS
)
def survivors(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    variants: pl.DataFrame,
    benchmark_runs: pl.DataFrame,
    metrics: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
    champion: pl.DataFrame,
    holdout_runs: pl.DataFrame,
    post_mortem: pl.DataFrame,
) -> pl.DataFrame:
    """Select the champion, a seed of each base in use, and the best of the rest. Writes RESULTS.md back, and
    seals what enters the next cycle."""
    from evolake.solvers.evolution.closing import CycleResults, close_cycle, fates
    from evolake.solvers.evolution.population import RankedCycle
    from evolake.solvers.report.material import Material

    store = LineStore(line, context, lake, compute)
    cycle, population = store.cycle, archive(store)
    added = {name: store.rows(name) for name in ("objectives", "rule_proposals", "attempts")}
    added |= {
        "derivations": store.rows("variants", DERIVATIONS),
        "findings": post_mortem.to_dicts(),
        "holdout": holdout_runs.to_dicts(),
    }
    ranked = RankedCycle(population, variants.to_dicts(), consensus_ranking.to_dicts())
    results = CycleResults(
        benchmark_runs,
        metrics.to_dicts(),
        champion.to_dicts(),
        verdict_rows(store, "champion", "holdout_runs"),
        contests(store, champion, variants),
        store.rows("unmade"),
        store.rows("plan"),
    )
    closed = close_cycle(open_workspace(store, population), ranked, results, added, cycle=cycle)
    held = closed.rows("champion")[0]
    consensus = {row["variant_id"]: row["consensus"] for row in consensus_ranking.to_dicts()}
    store.champion(held["variant_id"], consensus.get(held["variant_id"]))
    store.artifacts(fates(population, closed, cycle))
    sealed = store.seal(closed.frames(), GUARDS, survivors="variants")
    live = closed.rows("accepted", "champion")
    details = {"champion": held["title"], "champion_id": held["variant_id"], "live": len(live)}
    store.tell(
        sealed.metadata()
        | details
        | figures_of("evolake.solvers.report.figures", Material(store.lake, cycle, closed), "survivors")
    )
    return VARIANTS.frame(live)
