"""The multi-gate guard of the designs line: blocking checks through which everything must pass on its way
from candidates to survivors."""

from __future__ import annotations

import dagster as dg

from assets.designs.line import line
from assets.designs.measure import (
    consensus_ranking,
    experiments,
    final_ranking,
    final_scores,
    objective_scores,
    promoted_experiments,
    tuning,
)
from assets.designs.propose import candidates, directions
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
from evolake.designs.evolution.gate_specs import GATES as DESIGN_GATES
from evolake.designs.tables import EXPERIMENTS, FAILED_PROPOSALS, TUNING

GATES = len(DESIGN_GATES)
ALWAYS = DecidingVerdicts(about="true")
"""A design is judged once in its life, whatever cycle ranks it."""


def _measurements_are_possible(asset: dg.AssetsDefinition) -> dg.AssetChecksDefinition:
    return rows_check(
        asset,
        "measurements_are_possible",
        "Every row is a measurement that can be: one per level, steps within the budget, a share within 0 "
        "and 1.",
    )


candidates_passed_every_gate = passed_every_gate(
    candidates,
    "accepted_passed_every_gate",
    "Every accepted candidate has a pass from each gate and no objection.",
    "design_id",
    GATES,
    where="state = 'accepted'",
    verdicts=ALWAYS,
)
candidates_are_known_once = rows_check(
    candidates,
    "candidates_are_known_once",
    "No id twice, and every state is one of the two that a candidate can have.",
    once("design_id"),
    "state IN ('accepted', 'blocked')",
    "source_sha IS NOT NULL",
)
candidate_weights_sum_to_one = weights_sum_to_one(
    candidates,
    "reference_weights_sum_to_one",
    "The shares that a candidate's parents had in it sum to 1.",
    "design_id",
    orphans_allowed=True,
)
experiments_are_possible = _measurements_are_possible(experiments)
promoted_are_possible = _measurements_are_possible(promoted_experiments)
scores_are_complete = every_objective_scored(objective_scores, "design")
final_scores_are_complete = every_objective_scored(final_scores, "design")
consensus_ranking_is_total = ranking_is_total(consensus_ranking, "design")
final_ranking_is_total = ranking_is_total(final_ranking, "design")
ranked_passed_every_gate = passed_every_gate(
    final_ranking,
    "ranked_passed_every_gate",
    "Whatever is ranked, of this cycle or an older one, seed or merged, has a pass from each gate.",
    "design_id",
    GATES,
    verdicts=ALWAYS,
)
tuned_passed_every_gate = passed_every_gate(
    tuning,
    "tuned_passed_every_gate",
    "A tuned copy has a pass from each gate before it enters the population.",
    "design_id",
    GATES,
    table=f"{line.name}.tuned_designs",
    where="state = 'accepted'",
    verdicts=ALWAYS,
)
judging_candidates_did_not_raise = raised_check(
    candidates,
    line.name,
    line.cycles,
    judged=["directions", "candidates"],
    reasons=[Reasons("unmade", FAILED_PROPOSALS, "number")],
)
running_experiments_did_not_raise = raised_check(
    experiments, line.name, line.cycles, reasons=[Reasons("experiments", EXPERIMENTS, "design_id", "failure")]
)
running_promoted_did_not_raise = raised_check(
    promoted_experiments,
    line.name,
    line.cycles,
    reasons=[Reasons("promoted_experiments", EXPERIMENTS, "design_id", "failure")],
)
tuning_did_not_raise = raised_check(
    tuning, line.name, line.cycles, judged=["tuning"], reasons=[Reasons("tuning", TUNING, "design_id")]
)
some_proposal_was_answered = proposal_checks(line, directions, candidates)
GUARDS = (
    candidates_passed_every_gate,
    candidates_are_known_once,
    candidate_weights_sum_to_one,
    experiments_are_possible,
    promoted_are_possible,
    scores_are_complete,
    final_scores_are_complete,
    consensus_ranking_is_total,
    final_ranking_is_total,
    ranked_passed_every_gate,
    tuned_passed_every_gate,
)
