"""The multi-gate guard of the families line: blocking checks through which everything must pass on its way
from candidates to survivors."""

from __future__ import annotations

import dagster as dg

from assets.families.judge import accepted, gates, of_record
from assets.families.line import line
from assets.families.products import complexity, funnel, instances
from assets.families.propose import candidates
from assets.predicates import Reasons, once, passed_every_gate, raised_check, rows_check, weights_sum_to_one
from assets.proposals import proposal_checks
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.tables import FAILED_PROPOSALS, GATED, INVENTED
from evolake.families.worlds import NAMES
from resources.tables import schema_of

GATES = len(GATE_NAMES)


def _judged_once(asset: dg.AssetsDefinition) -> dg.AssetChecksDefinition:
    return rows_check(
        asset,
        "each_family_judged_once",
        "Every candidate that came to a gate has one result there, with its evidence.",
    )


candidates_are_known_once = rows_check(
    candidates,
    "candidates_are_known_once",
    "No id twice; every version has its record and evidence, and one of the two states.",
    once("family_id"),
    "record_sha IS NOT NULL",
    "evidence IS NOT NULL",
    "state IN ('accepted', 'blocked')",
)
candidate_weights_sum_to_one = weights_sum_to_one(
    candidates,
    "parent_weights_sum_to_one",
    "Every candidate that is no drawn world, nor a model's invention, has parents, whose shares in it sum "
    "to 1.",
    "family_id",
    orphans_allowed=False,
    born_orphans=f"c.operator IN {(*NAMES, INVENTED)}",
)
judged_each_once = [_judged_once(asset) for asset in gates.values() if schema_of(asset) is GATED]
labels_have_a_majority = rows_check(
    gates["consensus_labels"],
    "labels_have_a_strict_majority",
    "No instance has a label without more than half of its voters; a plurality is none.",
)
reviews_are_honest = rows_check(
    gates["blind_reviews"],
    "matches_have_an_answer",
    "One row per review; a reply that matches the label has an answer, and not N/A.",
)
accepted_passed_every_gate = passed_every_gate(
    accepted,
    "accepted_passed_every_gate",
    "Every accepted family has a pass from each gate of this cycle and no objection.",
    "family_id",
    GATES,
)
accepted_are_agreed_on = rows_check(
    accepted,
    "accepted_labels_are_agreed",
    "Every sampled instance of an accepted family has a strict majority, with the primary in it.",
    "decided AND 2 * votes > voters AND primary_agrees",
    rows=f"""
SELECT a.family_id, l.difficulty, l.seed, l.label, l.decided, l.votes, l.voters, l.primary_agrees
  FROM {line.name}.accepted AS a
LEFT JOIN {line.name}.consensus_labels AS l ON l.family_id = a.family_id AND l.cycle = a.cycle
  WHERE a.cycle = $cycle""",
)
accepted_are_known_once = rows_check(
    accepted,
    "accepted_are_known_once",
    "No accepted family twice, each with the fingerprint that later ones are compared with.",
    once("family_id"),
    "fingerprint IS NOT NULL",
)
instances_are_labelled = rows_check(
    instances,
    "instances_are_labelled",
    "Each text once, at a difficulty of 1 to 10, with a label that more than half of its voters gave.",
)
complexity_is_measured_once = rows_check(
    complexity,
    "programs_are_measured_once",
    "One row per family; whatever was parsed has lines and a time class.",
)
funnel_adds_up = rows_check(
    funnel,
    "funnel_adds_up",
    "Passed and blocked families make up all that arrived; none passes that did not arrive.",
)
judging_did_not_raise = raised_check(
    accepted,
    line.name,
    line.cycles,
    judged=of_record.assets,
    reasons=[Reasons("unmade", FAILED_PROPOSALS, "number")],
)
some_proposal_was_answered = proposal_checks(line, candidates)
GUARDS = (
    candidates_are_known_once,
    candidate_weights_sum_to_one,
    *judged_each_once,
    labels_have_a_majority,
    reviews_are_honest,
    accepted_passed_every_gate,
    accepted_are_agreed_on,
    accepted_are_known_once,
    instances_are_labelled,
    complexity_is_measured_once,
    funnel_adds_up,
)
