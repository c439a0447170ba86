"""Generate, validate, refine: a blocked family goes back with its observation until it passes or its rounds
are over. Source: SSLogic, section 3.4, phase III.

The submission guard holds what the paper's workflow holds: nothing is delivered without a pass of exactly
this content, and three refused submissions end the attempt. The pass is kept by family_id, which is a hash of
the content, so it cannot survive an edit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from evolake.families.evolution.observations import Observation, observe
from evolake.families.gates.judging import FamilyResults
from evolake.families.model.contract import Family

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
    """accepted, rounds (t_max reached), refused (the guard ended it), given up, unchanged (a revision that
    changes nothing), or repeated (a revision was blocked for the reason of an earlier version)."""

    @property
    def last(self) -> FamilyResults:
        """Return the results of the last round."""
        return self.rounds[-1]


def _bare_reason(observation: Observation) -> tuple[str, str]:
    return observation.rule_id, re.sub(r"\d+", "#", observation.reason)


def refine(
    family: Family,
    examine: Callable[[Family], FamilyResults],
    revise: Revise,
    *,
    rounds: int,
    guard: SubmissionGuard,
    end_at_repeat: bool = False,
) -> Refinement:
    """Examine the family, and up to `rounds` revisions of it.

    end_at_repeat: stop when a version is blocked for the reason of an earlier one, numbers aside. Of 28
    attempts by operators (27 November 2026) five met a reason again, and none of these was accepted
    afterwards.
    """
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
        repeated = end_at_repeat and _bare_reason(observation) in map(_bare_reason, observations)
        observations.append(observation)
        if repeated:
            return Refinement(tuple(seen), tuple(observations), None, "repeated")
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
