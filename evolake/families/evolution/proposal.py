"""What a proposal came to: a family with what the gates said of each version, or the reason why there is
none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evolake.families.evolution.observations import Observation
from evolake.families.evolution.refining import Refinement
from evolake.families.gates.judging import FamilyResults
from evolake.families.model.contract import Family


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
