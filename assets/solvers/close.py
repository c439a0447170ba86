"""The closing of a cycle: who lives on, results written back into the repositories, and the population that enters the next one."""

from __future__ import annotations

from typing import Any

import dagster as dg
import polars as pl

from assets.cycle import seal_cycle
from assets.solvers import figures
from assets.solvers.checks import GUARDS
from assets.solvers.learn import verdict_rows
from assets.solvers.line import archive, artifact_rows, line, publish_side, workshop
from evolake.lake import ARTIFACTS, CHAMPIONS, DERIVATIONS, side_table
from evolake.solvers.tables_archive import VARIANTS
from resources.lake import LakeResource


@line.asset(deps=["objectives", "compliance", "binaries", "smoke", "correctness", "rule_proposals"], schema=VARIANTS)
def survivors(
    context: dg.AssetExecutionContext, lake: LakeResource, variants: pl.DataFrame, benchmark_runs: pl.DataFrame, metrics: pl.DataFrame,
    consensus_ranking: pl.DataFrame, champion: pl.DataFrame, holdout_runs: pl.DataFrame, post_mortem: pl.DataFrame,
) -> pl.DataFrame:
    """The champion, a seed of each base in use, and the best of the rest. Writes RESULTS.md back, and seals what enters the next cycle."""
    from evolake.solvers.evolution.closing import close_cycle

    cycle, store, run_id = context.partition_key, lake.open(), context.run_id
    population = archive(lake, cycle)
    tables = {
        name: store.read(line.name, name, cycle).to_dicts() for name in ("objectives", "rule_proposals", "attempts")
    } | {"derivations": store.read(line.name, side_table("variants", DERIVATIONS), cycle).to_dicts()}
    said = verdict_rows(lake, cycle, "champion", "holdout_runs")
    closed = close_cycle(
        workshop(lake, population), population, variants.to_dicts(), said, runs=benchmark_runs, metrics=metrics.to_dicts(),
        ranking=consensus_ranking.to_dicts(), decisions=champion.to_dicts(), holdout=holdout_runs.to_dicts(), findings=post_mortem.to_dicts(),
        added=tables, cycle=cycle,
    )
    reigning = closed.rows("champion")[0]
    consensus = {row["variant_id"]: row["consensus"] for row in consensus_ranking.to_dicts()}
    row = {"line": line.name, "cycle": cycle, "artifact_id": reigning["variant_id"], "score": consensus.get(reigning["variant_id"])}
    publish_side(store, "survivors", CHAMPIONS, [row], cycle=cycle, run_id=run_id)
    publish_side(store, "survivors", ARTIFACTS, artifact_rows(_fates(population, closed, cycle), run_id), cycle=cycle, run_id=run_id)
    sealed = seal_cycle(context, lake, line, cycle, closed.frames(), guarded_by=GUARDS, population="variants")
    live = closed.rows("accepted", "champion")
    told = {"champion": reigning["title"], "champion_id": reigning["variant_id"], "live": len(live)}
    context.add_output_metadata(sealed.metadata() | told | figures.of_cycle(store, cycle, closed))
    return VARIANTS.frame(live)


def _fates(before: Any, closed: Any, cycle: str) -> list[dict[str, Any]]:
    """Rows of VARIANTS: the cycle's own as accepted or blocked, whoever was found unsound in it as blocked, was overtaken as retired, and who reigns.

    Accepted ones may come twice: what passed its gates and was overtaken at once did pass them.
    """
    own = [row for row in closed.rows() if row["cycle"] == cycle]
    in_question = {*before.live_ids(), *(row["variant_id"] for row in own)}
    judged = [row | {"state": "blocked" if row["gate"] else "accepted"} for row in own]
    fallen = [row | {"cycle": cycle} for row in closed.rows("blocked") if row["variant_id"] in before.live_ids()]
    overtaken = [row | {"cycle": cycle} for row in closed.rows("retired") if row["variant_id"] in in_question]
    return [*judged, *fallen, *overtaken, *(row | {"cycle": cycle} for row in closed.rows("champion"))]
