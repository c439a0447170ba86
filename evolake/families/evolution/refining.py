"""Generate, validate, refine: a blocked family goes back with its observation until it passes or its rounds
are over; the proposal came to a family with what the gates said of each version, or to a reason. Source:
SSLogic, section 3.4, phase III.

An observation says what kind of fault it is, the traces that show it, and the lesson of its rule, which holds
for any family. Kinds, as in the paper: an implementation bug (the code is wrong), unsolvable (the text does
not say enough), ambiguity (it says more than one thing).

The submission guard holds what the paper's workflow holds: nothing is delivered without a pass of exactly
this content, and three refused submissions end the attempt. The pass is kept by family_id, which is a hash of
the content, so it cannot survive an edit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolake.families.gates.judging import FamilyResults
from evolake.families.model.contract import Family
from evolake.gates import raised_in

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
    elif rule_id == "families-text-agrees":
        shown = evidence["text"]["wrong"]
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
    elif rule_id == "families-vital-rules":
        least: dict[tuple[str, str], list[Any]] = {}
        for rule, _, way, *row in sorted(evidence["bites"], key=lambda row: row[5] / row[4]):
            least.setdefault((rule, way), row)
        shown = [
            {"rule": rule, "way": way, "difficulty": level, "instances": instances, "changed": changed}
            for (rule, way), (level, instances, changed) in least.items()
        ]
    elif rule_id == "families-near-duplicate":
        shown = evidence["nearest"]
    elif rule_id == "families-idle":
        shown = [*evidence["idle"], *evidence["dead"], *evidence["dead_functions"]]
    elif rule_id == "families-quantities":
        shown = evidence["unbacked"]
    return tuple(json.dumps(item, ensure_ascii=False, default=str)[:LONGEST_TRACE] for item in shown[:TRACES])


Revise = Callable[[FamilyResults, Observation, int], Family | None]
"""(family after its gates, why it was blocked, round from 1) -> another try, None to give up."""


MOST_REFUSALS = 3
"""Refused submissions that end an attempt."""


class SubmissionGuard:
    """Who may be delivered."""

    def __init__(self, refusals: int = MOST_REFUSALS):
        self.refusals = refusals
        self.refused = 0
        self._passed: set[str] = set()

    @property
    def ended(self) -> bool:
        """Whether the attempt is over."""
        return self.refused >= self.refusals

    def record(self, examined: FamilyResults) -> None:
        """Remember a pass of every gate, blind review among them."""
        if examined.accepted:
            self._passed.add(examined.family_id)

    def submit(self, family: Family) -> bool:
        """Return whether the family, as it is now, may be delivered. A refusal is counted; after the last one
        nothing is delivered any more."""
        if self.ended:
            return False
        if family.family_id in self._passed:
            return True
        self.refused += 1
        return False


@dataclass(frozen=True)
class Refinement:
    """An attempt: every version in order with what its gates said. `family` is the delivered version, None if
    there is none."""

    rounds: tuple[FamilyResults, ...]
    observations: tuple[Observation, ...]
    family: Family | None
    ended: str
    """accepted, rounds (t_max reached), refused (the guard ended it), given up, or unchanged (a revision that
    changes nothing)."""

    @property
    def last(self) -> FamilyResults:
        """Return the results of the last round."""
        return self.rounds[-1]


def refine(
    family: Family,
    examine: Callable[[Family], FamilyResults],
    revise: Revise,
    *,
    rounds: int,
    guard: SubmissionGuard,
) -> Refinement:
    """Examine the family, and up to `rounds` revisions of it."""
    seen: list[FamilyResults] = []
    observations: list[Observation] = []
    for number in range(rounds + 1):
        examined = examine(family)
        seen.append(examined)
        guard.record(examined)
        if guard.submit(family):
            return Refinement(tuple(seen), tuple(observations), family, "accepted")
        observation = observe(examined)
        assert observation is not None, "a family that is not accepted has a verdict that says why"
        observations.append(observation)
        if guard.ended:
            return Refinement(tuple(seen), tuple(observations), None, "refused")
        if number == rounds:
            break
        revised = revise(examined, observation, number + 1)
        if revised is None:
            return Refinement(tuple(seen), tuple(observations), None, "given up")
        if revised.family_id == family.family_id:
            return Refinement(tuple(seen), tuple(observations), None, "unchanged")
        family = revised
    return Refinement(tuple(seen), tuple(observations), None, "rounds")


@dataclass(frozen=True)
class Proposal:
    """One attempt. operator: the one asked for; the family's own `operator` says which one made it. family:
    the delivered version, or None.

    idea: of the author, in a sentence. lost: why a correction brought no family.
    """

    number: int
    operator: str
    refinement: Refinement
    idea: str = ""
    lost: tuple[str, ...] = ()

    @property
    def family(self) -> Family | None:
        """Return the family as it was refined last, or None."""
        return self.refinement.family

    @property
    def rounds(self) -> tuple[FamilyResults, ...]:
        """Every version with what the gates said, in order."""
        return self.refinement.rounds


@dataclass(frozen=True)
class Failure:
    """An attempt that brought no family. reason: why. title, idea: of its reply, if there was one."""

    number: int
    operator: str
    reason: str
    title: str = ""
    idea: str = ""


@dataclass(frozen=True)
class Proposals:
    """Of a cycle. authors: rows of VALIDATOR_AUTHORS, of every version. measured: rows of MEASURED."""

    proposals: tuple[Proposal, ...]
    failures: tuple[Failure, ...]
    authors: tuple[dict[str, Any], ...] = ()
    measured: tuple[dict[str, Any], ...] = ()

    @property
    def accepted(self) -> list[FamilyResults]:
        """The delivered families, after their gates."""
        return [proposal.rounds[-1] for proposal in self.proposals if proposal.family is not None]

    @property
    def observations(self) -> list[Observation]:
        """Of all blocked versions, in order."""
        return [
            observation for proposal in self.proposals for observation in proposal.refinement.observations
        ]


def outcome_text(outcome: Proposal | Failure) -> str:
    """Say in a line what an attempt proposed and what came of it, for the requests of later waves."""
    if isinstance(outcome, Failure):
        return (
            f"{outcome.title or outcome.operator}: {outcome.idea or 'no idea was given'}; no family: "
            f"{outcome.reason[:200]}"
        )
    last = outcome.rounds[-1]
    verdict = last.blocked_by
    ended = "accepted" if verdict is None else f"blocked at the gate {verdict.gate}: {verdict.reason[:200]}"
    return f"{last.family.title}: {outcome.idea or last.family.operator}; {ended}"
