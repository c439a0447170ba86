"""The closing of a cycle: findings of the post-mortem, rules that must earn their place by replay on stored
evidence, who lives on, and the population that enters the next cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.shown import figures_of
from assets.solvers.checks import GUARDS
from assets.solvers.judge import late_verdicts, of_record
from assets.solvers.line import archive, line, open_workspace, rules_in_force
from assets.solvers.measure import contests, sound_runs
from assets.store import LineStore
from evolake.lake import DERIVATIONS, RULES
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import FINDINGS, HISTORY, PROPOSED, RULE_METRICS, RULE_PROPOSALS, VARIANTS
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.solvers.evolution.population import Population
    from evolake.solvers.evolution.post_mortem import CycleFacts, SessionAnalyst


def verdict_rows(store: LineStore, *later: str) -> list[dict[str, Any]]:
    """Return the verdicts of record of this cycle's variants, those of the benchmark, and those of the assets
    `later`, on all that ran there."""
    return of_record.verdicts(store) + late_verdicts(store, "benchmark_runs", *later)


@line.asset(deps=[line.incoming, "compliance", "binaries", "smoke", "correctness"], schema=FINDINGS)
def post_mortem(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    variants: pl.DataFrame,
    metrics: pl.DataFrame,
    consensus_ranking: pl.DataFrame,
    benchmark_runs: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Compile errors, blocks, regressions, gains and the contests' verdicts, read by the analyst.

    What the rule writer makes of each finding is kept as a proposal.
    """
    import json

    store = LineStore(line, context, lake)
    from evolake.solvers.evolution.closing import evaluate, finding_rows, history_rows
    from evolake.solvers.evolution.post_mortem import check_analyst
    from evolake.solvers.evolution.post_mortem import post_mortem as analyse
    from evolake.solvers.roles.shown import refused_rules, rules_to_show

    cycle, settings, population = store.cycle, store.settings, archive(store)
    check_analyst(settings)
    evaluated = evaluate(
        population,
        variants.to_dicts(),
        verdict_rows(store),
        metrics.to_dicts(),
        consensus_ranking.to_dicts(),
        store.blobs,
    )
    ruleset = rules_in_force(store, population)
    with store.roles(agents) as served:
        result = analyse(
            served,
            evaluated,
            settings=settings.of(SolversSettings),
            cycle=cycle,
            root_seed=settings.seed,
            rules=[
                *(rule.id for rule in rules_to_show(ruleset)),
                *refused_rules(population.rule_proposals.to_dicts()),
            ],
            session=analyst(store, population) if settings.of(SolversSettings).analyst == "session" else None,
            facts=cycle_facts(store, population, variants, benchmark_runs, champion),
        )
    rules_proposed = [
        item for item in result.proposals if item["check"]
    ]  # what no program can check stays a finding
    proposed = [
        {"number": number, "cycle": cycle, "proposal": json.dumps(item, sort_keys=True)}
        for number, item in enumerate(rules_proposed)
    ]
    store.extra(PROPOSED, proposed)
    store.extra(
        HISTORY,
        history_rows(evaluated, consensus_ranking.height, cycle, settings.of(SolversSettings)),
        "attempts",
    )
    store.tell(
        {"assessment": result.assessment, "failed_calls": len(result.failures), "proposals": len(proposed)}
    )
    return FINDINGS.frame(finding_rows(result, cycle))


def cycle_facts(
    store: LineStore,
    population: Population,
    variants: pl.DataFrame,
    benchmark_runs: pl.DataFrame,
    decisions: pl.DataFrame,
) -> CycleFacts:
    """Return what decided this cycle, for the analyst: its contests, who is champion after them, results by
    family, and what was tried before."""
    from evolake.solvers.evolution.population import RankedCycle
    from evolake.solvers.evolution.post_mortem import analysis_facts

    ranked = RankedCycle(population, variants.to_dicts(), store.rows("consensus_ranking"))
    return analysis_facts(
        ranked,
        sound_runs(store, population, benchmark_runs),
        decisions.to_dicts(),
        contests(store, decisions, variants),
        settings=store.settings.of(SolversSettings),
        cycle=store.cycle,
    )


def analyst(store: LineStore, population: Population) -> SessionAnalyst:
    """Return the analyst as a session, with the sources of the seeds at hand."""
    from evolake.jail import open_pool
    from evolake.solvers.evolution.post_mortem import SessionAnalyst
    from evolake.solvers.repository.variant import sources_of

    def sources() -> dict[str, dict[str, str]]:
        return {
            name: {
                path: file.read_bytes().decode("utf-8", "surrogateescape")
                for path, file in sources_of(base.folder).items()
            }
            for name, base in open_workspace(store, population).bases().items()
        }

    return SessionAnalyst(lambda: open_pool(workers=1, preload=(), mode=store.settings.jail), sources)


@line.asset(
    deps=[line.incoming, "variants", "compliance", "binaries", "smoke", "correctness"], schema=RULE_PROPOSALS
)
def rule_proposals(
    context: dg.AssetExecutionContext, lake: LakeResource, post_mortem: pl.DataFrame, compliance: pl.DataFrame
) -> pl.DataFrame:
    """Each proposal replayed on all stored evidence: active when it blocks a failed variant that it names and
    no accepted one."""
    import json

    store = LineStore(line, context, lake)
    from evolake.solvers.evolution.closing import stored_variants
    from evolake.solvers.rules.learned import decide, rule_metrics, rule_rows, with_learned

    cycle, population, said, variants = (
        store.cycle,
        archive(store),
        verdict_rows(store),
        store.rows("variants"),
    )
    remembered = stored_variants(population, variants, said, store.rows("attempts"), store.blobs)
    proposals = [
        json.loads(row["proposal"]) for row in store.read("proposed_rules").sort("number").to_dicts()
    ]
    rows = decide(proposals, remembered, population.rule_proposals.to_dicts(), cycle=cycle)
    attempts = {
        row["variant_id"]: [
            *(not text.startswith("Blocked at gate 0") for text in row["objections"]),
            row["gate"] != "compliance",
        ]
        for row in variants
    }
    after = with_learned(rules_in_force(store, population), rows)
    store.side(RULES, rule_rows(rows))
    store.extra(RULE_METRICS, rule_metrics(after, remembered, said, attempts).rows(cycle), "rule_metrics")
    states = [row["state"] for row in rows]
    store.tell(
        {
            "findings": post_mortem.height,
            "judged": compliance.height,
            **{name: states.count(name) for name in ("active", "rejected", "duplicate")},
        }
    )
    return RULE_PROPOSALS.frame(rows)


@line.asset(
    deps=[
        line.incoming,
        "plan",
        "objectives",
        "compliance",
        "binaries",
        "smoke",
        "correctness",
        "rule_proposals",
    ],
    schema=VARIANTS,
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
