"""What a cycle teaches: findings of the post-mortem, and rules that must earn their place by replay on stored evidence."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.solvers.judge import PROVING, late_verdicts
from assets.solvers.line import archive, line, publish_extra, publish_side, rules_in_force, workshop
from evolake.lake import AGENT_CALLS, RULES, VERDICTS, TableSchema, side_table
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import RULE_METRICS
from evolake.solvers.tables_archive import FINDINGS, HISTORY, RULE_PROPOSALS
from resources.agents import AgentsResource
from resources.lake import LakeResource

PROPOSED = TableSchema("proposed_rules", 1, {"number": pl.Int64, "cycle": pl.String, "proposal": pl.String}, keys=("number",))


def verdict_rows(lake: LakeResource, cycle: str, *later: str) -> list[dict]:
    """The verdicts of record of this cycle's variants, those of the benchmark, and those of the assets `later`, on all that ran there."""
    store = lake.open()
    gated = [row for asset in PROVING for row in store.read(line.name, side_table(asset, VERDICTS), cycle).to_dicts()]
    return gated + late_verdicts(store, cycle, "benchmark_runs", *later)


@line.asset(deps=["compliance", "binaries", "smoke", "correctness"], schema=FINDINGS)
def post_mortem(
    context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource, variants: pl.DataFrame, metrics: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """Compile errors, blocks, regressions and gains, read by the analyst; what the rule writer makes of each finding is kept as a proposal."""
    import json

    from evolake.solvers.evolution.lessons import evaluate, finding_rows, history_rows
    from evolake.solvers.evolution.post_mortem import post_mortem as analyse
    from evolake.solvers.roles.told_rules import told_rules

    cycle, settings, store = context.partition_key, lake.settings(), lake.open()
    population = archive(lake, cycle)
    evaluated = evaluate(population, variants.to_dicts(), verdict_rows(lake, cycle), metrics.to_dicts(), consensus_ranking.to_dicts(), store.blobs)
    ruleset = rules_in_force(lake, population)
    with agents.open(lake, cycle, context.run_id, line=line.name) as served:
        found = analyse(
            served, evaluated, settings=settings.of(SolversSettings), cycle=cycle, root_seed=settings.seed,
            rules=[rule.id for rule in told_rules(ruleset)],
            earlier_findings=[f"{row['title']}: {row['explanation']}" for row in population.findings.to_dicts()][-30:],
        )
        publish_side(store, "post_mortem", AGENT_CALLS, served.rows(), cycle=cycle, run_id=context.run_id)
    rules_proposed = [item for item in found.proposals if item["check"]]  # what no program can check stays a finding
    proposed = [{"number": number, "cycle": cycle, "proposal": json.dumps(item, sort_keys=True)} for number, item in enumerate(rules_proposed)]
    publish_extra(store, "proposed_rules", PROPOSED, proposed, context=context)
    publish_extra(store, "attempts", HISTORY, history_rows(evaluated, consensus_ranking.height, cycle), context=context)
    context.add_output_metadata({"assessment": found.assessment, "failed_calls": len(found.failures), "proposals": len(proposed)})
    return FINDINGS.frame(finding_rows(found, cycle))


@line.asset(deps=["variants", "compliance", "binaries", "smoke", "correctness"], schema=RULE_PROPOSALS)
def rule_proposals(context: dg.AssetExecutionContext, lake: LakeResource, post_mortem: pl.DataFrame, compliance: pl.DataFrame) -> pl.DataFrame:
    """Each proposal replayed on all stored evidence: active when it blocks a failed variant that it names and no accepted one."""
    import json

    from evolake.solvers.evolution.lessons import stored_variants
    from evolake.solvers.rules.learned import decide, rule_rows, with_learned
    from evolake.solvers.rules.metrics import rule_metrics

    cycle, store = context.partition_key, lake.open()
    population = archive(lake, cycle)
    shop, said = workshop(lake, population), verdict_rows(lake, cycle)
    variants = store.read(line.name, "variants", cycle).to_dicts()
    history = store.read(line.name, "attempts", cycle).to_dicts()
    remembered = stored_variants(population, variants, said, history, shop.blobs)
    proposals = [json.loads(row["proposal"]) for row in store.read(line.name, "proposed_rules", cycle).sort("number").to_dicts()]
    rows = decide(proposals, remembered, population.rule_proposals.to_dicts(), cycle=cycle)
    attempts = {row["variant_id"]: [*(not text.startswith("Blocked at gate 0") for text in row["objections"]), row["gate"] != "compliance"]
                for row in variants}
    after = with_learned(rules_in_force(lake, population), rows)
    publish_side(store, "rule_proposals", RULES, rule_rows(rows), cycle=cycle, run_id=context.run_id)
    publish_extra(store, "rule_metrics", RULE_METRICS, rule_metrics(after, remembered, said, attempts).rows(cycle), context=context)
    states = [row["state"] for row in rows]
    context.add_output_metadata({
        "findings": post_mortem.height, "judged": compliance.height, **{name: states.count(name) for name in ("active", "rejected", "duplicate")},
    })
    return RULE_PROPOSALS.frame(rows)
