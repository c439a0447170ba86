"""The multi-gate guard of the solvers line: blocking checks through which everything must pass on its way
from variants to survivors."""

from __future__ import annotations

import dagster as dg

from assets.predicates import (
    DecidingVerdicts,
    Reasons,
    every_objective_scored,
    once,
    passed_every_gate,
    raised_check,
    ranking_is_total,
    rows_check,
    weights_sum_to_one,
)
from assets.proposals import proposal_checks
from assets.solvers.judge import gates, of_record
from assets.solvers.line import line
from assets.solvers.measure import benchmark_runs, champion, consensus_ranking, metrics, objective_scores
from assets.solvers.propose import plan, variants
from evolake.solvers.gates.specs import GATES as VARIANT_GATES
from evolake.solvers.tables import CORRECTNESS_RUNS, FAILED_PROPOSALS, RUNS, SMOKE_RUNS, STABILITY_RUNS

GATES = len(VARIANT_GATES)
RUN = once("variant_id", "instance", "repeat")


def _passed_every_gate(
    asset: dg.AssetsDefinition, name: str, text: str, last: int
) -> dg.AssetChecksDefinition:
    """By what the gates up to number `last` (5 is the benchmark) said in this cycle, and all of them in the
    cycles before: what a later cycle finds out was not known then."""
    verdicts = DecidingVerdicts(
        "v.cycle <= $cycle",
        counts=f"v.gate_no < {GATES}",
        objects=f"(v.cycle < $cycle OR v.gate_no <= {last})",
    )
    return passed_every_gate(asset, name, text, "variant_id", GATES, verdicts=verdicts)


def _solved_means_certified(asset: dg.AssetsDefinition, text: str) -> dg.AssetChecksDefinition:
    return rows_check(
        asset,
        "solved_means_certified",
        text,
        RUN,
        "NOT solved OR certificate IS NOT NULL",
        "NOT solved OR (status <> 'wrong' AND proof_status IS DISTINCT FROM 'refuted')",
    )


variants_are_known_once = rows_check(
    variants,
    "variants_are_known_once",
    "No id twice; every variant has its archive, its diff and its hypothesis.",
    once("variant_id"),
    "archive_sha IS NOT NULL",
    "diff_sha IS NOT NULL",
    "hypothesis IS NOT NULL",
)
variant_weights_sum_to_one = weights_sum_to_one(
    variants,
    "parent_weights_sum_to_one",
    "The shares that a variant's parents had in it sum to 1.",
    "variant_id",
    orphans_allowed=True,
)
compliance_judged_each_once = rows_check(
    gates["compliance"],
    "each_variant_judged_once",
    "Every variant of the cycle has one judgement of compliance, with the evidence of it.",
)
binaries_are_there = rows_check(
    gates["binaries"],
    "what_passed_has_a_program",
    "What passed the build gate has an executable among the blobs, and a log.",
)
smoke_is_known_once = rows_check(
    gates["smoke"], "each_formula_once", "Every variant that was built met every small formula once.", RUN
)
correctness_is_proved = _solved_means_certified(
    gates["correctness"], "No run counts as solved whose model or proof was not checked, or was refuted."
)
benchmarked_are_proved = _solved_means_certified(
    benchmark_runs, "One row per run; no answer counts as solved without a checked model or a verified proof."
)
benchmarked_passed_every_gate = _passed_every_gate(
    benchmark_runs,
    "benchmarked_passed_every_gate",
    "Whatever is benchmarked has a pass from each gate and no objection before.",
    GATES - 1,
)
metrics_add_up = rows_check(
    metrics,
    "metrics_add_up",
    "Solved is at most all, PAR-2 is within its bounds, and no solver with a wrong answer has figures.",
)
scores_are_complete = every_objective_scored(objective_scores, "variant")
consensus_ranking_is_total = ranking_is_total(consensus_ranking, "variant")
ranked_passed_every_gate = _passed_every_gate(
    consensus_ranking,
    "ranked_passed_every_gate",
    "Whatever is ranked, new or old, has a pass from each gate and was not found unsound.",
    GATES,
)
winners_lost_nothing = rows_check(
    champion,
    "a_winner_lost_no_formula",
    "The winner of a duel solves no fewer formulas, and gains more than the noise.",
)
RUNS_OF_GATES = {"smoke": SMOKE_RUNS, "correctness": CORRECTNESS_RUNS, "stability_runs": STABILITY_RUNS}
judging_variants_did_not_raise = raised_check(
    gates["correctness"],
    line.name,
    line.cycles,
    judged=of_record.assets,
    reasons=[
        Reasons("unmade", FAILED_PROPOSALS, "plan_id"),
        *(Reasons(name, schema, "variant_id", "problems") for name, schema in RUNS_OF_GATES.items()),
    ],
)
judging_benchmarks_did_not_raise = raised_check(
    benchmark_runs,
    line.name,
    line.cycles,
    reasons=[Reasons("benchmark_runs", RUNS, "variant_id", "problems")],
)
some_proposal_was_answered = proposal_checks(line, plan, variants)
GUARDS = (
    variants_are_known_once,
    variant_weights_sum_to_one,
    compliance_judged_each_once,
    binaries_are_there,
    smoke_is_known_once,
    correctness_is_proved,
    benchmarked_are_proved,
    benchmarked_passed_every_gate,
    metrics_add_up,
    scores_are_complete,
    consensus_ranking_is_total,
    ranked_passed_every_gate,
    winners_lost_nothing,
)
