"""The opening of a cycle: plans by the planner, variants by the coder, who is told what the gates object to."""

from __future__ import annotations

import tempfile
from pathlib import Path

import dagster as dg
import polars as pl

from assets.cycle import open_cycle
from assets.solvers.line import archive, artifact_rows, line, publish_extra, publish_side, rules_in_force, workshop
from evolake.lake import AGENT_CALLS, ARTIFACTS, DERIVATIONS, TableSchema
from evolake.solvers.tables import RUNS
from evolake.solvers.tables_archive import PLANS, VARIANTS
from resources.agents import AgentsResource
from resources.lake import LakeResource

UNMADE = TableSchema(
    "unmade", 1, {"plan_id": pl.String, "cycle": pl.String, "reason": pl.String, "objections": pl.List(pl.String)}, keys=("plan_id",),
)
GATE_RUNS = TableSchema("gate_runs", 1, {"gate": pl.String, **RUNS.columns}, keys=("gate", *RUNS.keys), provenance=RUNS.provenance)
"""The runs that the coder's variants were judged on when they were made, in their last form."""


@line.asset(deps=[line.incoming], schema=PLANS)
def plan(context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource) -> pl.DataFrame:
    """The planner's plans for this cycle: which variant to build on, what to change, and what that should improve. Opens the cycle."""
    from evolake.agents import read_guidance
    from evolake.solvers.evolution.variant_making import plan_cycle

    cycle, settings, store = context.partition_key, lake.settings(), lake.open()
    with agents.open(lake, cycle, context.run_id, line=line.name) as served:
        opened = open_cycle(context, lake, line)
        population = archive(lake, cycle)
        notes = [note.text for note in read_guidance(store.root, line.name, cycle)]
        planned = plan_cycle(
            served, population, workshop(lake, population), rules_in_force(lake, population), cycle=cycle, root_seed=settings.seed, guidance=notes,
        )
        publish_side(store, "plan", AGENT_CALLS, served.rows(), cycle=cycle, run_id=context.run_id)
    if planned.failure:
        context.log.warning(f"WARN: the planner gave no usable reply ({planned.failure.reason}); this cycle has no plans")
    context.add_output_metadata(opened.metadata() | {"backend": settings.backend, "guidance": len(notes)})
    return PLANS.frame(planned.rows)


@line.asset(schema=VARIANTS, kinds={"cplusplus", "bubblewrap"})
def variants(context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, plan: pl.DataFrame) -> pl.DataFrame:
    """New repositories, each with its hypothesis, its edit and what the coder was told on the way. The gates of record come after this."""
    from evolake.solvers.evolution.stages import judge_folder
    from evolake.solvers.evolution.variant_making import make_variants

    cycle, settings, store, run_id = context.partition_key, lake.settings(), lake.open(), context.run_id
    population = archive(lake, cycle)
    shop, ruleset = workshop(lake, population), rules_in_force(lake, population)
    with agents.open(lake, cycle, run_id, line=line.name) as served, tempfile.TemporaryDirectory(prefix="evolake-variants-") as folder:
        made = make_variants(
            served, population, plan.to_dicts(), shop, ruleset, Path(folder), judge_folder(shop, ruleset, cycle=cycle, run_id=run_id),
            cycle=cycle, root_seed=settings.seed,
        )
        publish_side(store, "variants", AGENT_CALLS, served.rows(), cycle=cycle, run_id=run_id)
    publish_side(store, "variants", ARTIFACTS, artifact_rows(made.rows, run_id), cycle=cycle, run_id=run_id)
    publish_side(store, "variants", DERIVATIONS, made.derivations, cycle=cycle, run_id=run_id)
    publish_extra(store, "gate_runs", GATE_RUNS, made.runs, context=context)
    publish_extra(store, "unmade", UNMADE, made.unmade, context=context)
    if not made.rows:
        context.log.warning("WARN: this cycle has no variant; it ranks what it has")
    context.add_output_metadata({
        "plans": plan.height, "variants": len(made.rows), "unmade": len(made.unmade), "failed_calls": made.failures,
        "repairs": sum(row["repairs"] for row in made.rows), "backend": settings.backend,
    })
    return VARIANTS.frame(made.rows)
