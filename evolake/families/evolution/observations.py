"""A block as a structured observation: what kind of fault it is, the traces that show it, and the lesson that holds for any family.

Kinds, as in the paper's phase III: an implementation bug (the code is wrong), unsolvable (the text does not say enough), ambiguity (it says more than
one thing). Whoever refines a family gets the observation, not the verdict alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evolake.gates import raised_in

if TYPE_CHECKING:
    from evolake.families.gates.judging import FamilyResults

Kind = Literal["implementation bug", "unsolvable", "ambiguity"]
TRACES = 3
LONGEST_TRACE = 600

LESSONS = {
    "families-instances": "Draw inputs so that every seed gives an instance: bound every loop that searches for one.",
    "families-determinism": "Take all randomness from the seeded `random` module and sort every set before its order can matter.",
    "families-slots": "Give exactly one slot text for every slot of the template, at every difficulty.",
    "families-primary": "Let the primary validator handle the empty, the smallest and the largest inputs that the generator can draw.",
    "families-confined": "Bound the work of every validator at difficulty 10 before the family is submitted.",
    "families-unfilled": "Render a few statements and look for slots that are still open.",
    "families-drawing": "Write grids and trees as arrays in brackets instead of drawing them.",
    "families-length": "Keep the statement long enough to say every rule and short enough to be read.",
    "families-leak": "Keep the answer, and anything computed from it alone, out of the slot texts.",
    "families-distinct": "Widen the ranges that the generator draws from until different seeds give different instances.",
    "families-varied": "Plan the instance around the answer, so that hard instances have varied, non-trivial answers.",
    "families-difficulty": "Tie the number of objects or of rule steps to the difficulty parameter.",
    "families-contamination": "Invent the setting and the wording anew: known puzzles with other numbers stand in benchmarks.",
    "families-parts-matter": "Join families only where the first one's answer takes many values, so that the second cannot be solved without it.",
    "families-stated": "Change a rule in the text and in every source at the same time.",
    "families-near-duplicate": "Change what has to be reasoned about: new numbers or a new story do not make a new family.",
    "families-reviewer": "End the statement with one clear question whose effort grows with the difficulty.",
    "families-voters": "Write at least two validators by other algorithms, one of them brute force, before submitting.",
    "families-majority": "Decide every tie and border case in the text, because independent validators split where it is silent.",
    "families-primary-agrees": "Check the primary against brute force on small instances before trusting its closed form.",
    "families-blind": "State every rule in the text that the validator applies: order, ties, borders, rounding and what an empty result is called.",
    "families-sentences-read": "Let the reader refuse a statement in which a sentence that it knows is missing.",
    "families-sentences-declared": "Write each sentence by a declared pattern, and name the function or constant that holds its rule.",
    "families-quantities": "Say each number of the code in the text, and take none into the text that the code does not decide by.",
    "families-idle": "Leave out quantities and rules that could be another without any answer changing.",
    "families-ties": "Say who goes first wherever several can be equal.",
    "families-terms": "Give every word of degree a border: from how much on something is steep, long or often.",
}


@dataclass(frozen=True)
class Observation:
    """Why a family was blocked. traces: the instances, votes or reviews that show it, as JSON lines."""

    family_id: str
    kind: Kind
    gate: str
    rule_id: str
    reason: str
    traces: tuple[str, ...]

    @property
    def lesson(self) -> str:
        """A one-sentence item for the experience; "" where the rule has none."""
        return LESSONS.get(self.rule_id, "")


def observe(examined: FamilyResults) -> Observation | None:
    """The observation of a blocked family, None of an accepted one."""
    verdict = examined.blocked_by
    if verdict is None:
        return None
    evidence = examined.evidence.get(verdict.gate, {})
    kind = kind_of(verdict.rule_id, evidence)
    return Observation(examined.family_id, kind, verdict.gate, verdict.rule_id, verdict.reason, traces_of(verdict.rule_id, evidence))


def kind_of(rule_id: str, evidence: Mapping[str, Any]) -> Kind:
    """What kind of fault the evidence speaks for.

    No majority: ambiguity. Blind reviewers who mostly give up or give nothing: unsolvable; who give other answers: ambiguity. All else is a bug.
    """
    if rule_id == "families-majority":
        return "ambiguity"
    if rule_id == "families-blind":
        missed = [review for review in evidence.get("reviews", ()) if not review["matched"]]
        silent = sum(review["status"] != "answered" for review in missed)
        return "unsolvable" if 2 * silent >= len(missed) else "ambiguity"
    if rule_id == "families-reviewer" and evidence.get("readability") == "revise":
        return "ambiguity"
    return "implementation bug"


def traces_of(rule_id: str, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """At most TRACES pieces of evidence; none where collecting it raised."""
    found: Sequence[Any] = ()
    if raised_in(evidence):
        return ()
    if rule_id in ("families-majority", "families-primary-agrees"):
        found = evidence["undecided"] or evidence["primary_wrong"]
    elif rule_id == "families-blind":
        found = [review for review in evidence["reviews"] if not review["matched"]]
    elif rule_id == "families-instances":
        found = [item for item in evidence["instances"] if item[2] != "ok"]
    elif rule_id in ("families-primary", "families-confined"):
        found = [{name: voter} for name, voter in evidence["voters"].items() if voter["failures"] or voter["unsafe_probes"]]
    elif rule_id == "families-difficulty":
        found = [{name: evidence.get(name) for name in ("size", "magnitude", "work")}]
    elif rule_id == "families-near-duplicate":
        found = evidence["nearest"]
    elif rule_id == "families-idle":
        found = [*evidence["idle"], *evidence["dead"], *evidence["dead_functions"]]
    elif rule_id == "families-quantities":
        found = evidence["unbacked"]
    return tuple(json.dumps(item, ensure_ascii=False, default=str)[:LONGEST_TRACE] for item in found[:TRACES])
