"""A block as a structured observation: what kind of fault it is, the traces that show it, and the lesson of
its rule, which holds for any family.

Kinds, as in the paper's phase III: an implementation bug (the code is wrong), unsolvable (the text does not
say enough), ambiguity (it says more than one thing). The author who refines a family gets the observation,
not the verdict alone.
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


@dataclass(frozen=True)
class Observation:
    """Why a family was blocked. traces: the instances, votes or reviews that show it, as JSON lines. lesson:
    of its rule; "" where that has none."""

    family_id: str
    kind: Kind
    gate: str
    rule_id: str
    reason: str
    traces: tuple[str, ...]
    lesson: str = ""


def observe(examined: FamilyResults) -> Observation | None:
    """Return the observation of a blocked family, without a lesson; None of an accepted one."""
    verdict = examined.blocked_by
    if verdict is None:
        return None
    evidence = examined.evidence.get(verdict.gate, {})
    kind = kind_of(verdict.rule_id, evidence)
    return Observation(
        examined.family_id,
        kind,
        verdict.gate,
        verdict.rule_id,
        verdict.reason,
        traces_of(verdict.rule_id, evidence),
    )


def kind_of(rule_id: str, evidence: Mapping[str, Any]) -> Kind:
    """Return what kind of fault the evidence speaks for.

    No majority: ambiguity. Blind reviewers who mostly give up or give nothing: unsolvable; who give other
    answers: ambiguity. All else is a bug.
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
    shown: Sequence[Any] = ()
    if raised_in(evidence):
        return ()
    if rule_id in ("families-majority", "families-primary-agrees"):
        shown = evidence["undecided"] or evidence["primary_wrong"]
    elif rule_id == "families-blind":
        shown = [review for review in evidence["reviews"] if not review["matched"]]
    elif rule_id == "families-instances":
        shown = [item for item in evidence["instances"] if item[2] != "ok"]
    elif rule_id in ("families-primary", "families-confined"):
        shown = [
            {name: voter}
            for name, voter in evidence["voters"].items()
            if voter["failures"] or voter["unsafe_probes"]
        ]
    elif rule_id == "families-difficulty":
        shown = [{name: evidence.get(name) for name in ("size", "magnitude", "work")}]
    elif rule_id == "families-guessable":
        shown = [
            {"difficulty": row[0], "instances": row[1], "constant": row[2], "pair": row[3]}
            for row in evidence.get("guesses", ())
        ]
    elif rule_id == "families-near-duplicate":
        shown = evidence["nearest"]
    elif rule_id == "families-idle":
        shown = [*evidence["idle"], *evidence["dead"], *evidence["dead_functions"]]
    elif rule_id == "families-quantities":
        shown = evidence["unbacked"]
    return tuple(json.dumps(item, ensure_ascii=False, default=str)[:LONGEST_TRACE] for item in shown[:TRACES])
