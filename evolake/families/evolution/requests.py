"""What the evolution agent is asked: which operator has its turn, and which families it gets as parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from evolake.families.model.contract import Family, to_record
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.statement import stated
from evolake.families.operators.novelty import novel_parents
from evolake.families.operators.registry import WORLDS, turn
from evolake.families.roles.evolution import FamilyRequest
from evolake.families.roles.models import EvolveRequest, ParentMaterial
from evolake.families.settings import FamiliesSettings
from evolake.seeds import generator

LINE = "families"
PARENTS = 4
"""Families that one request offers as parents."""
IDEAS = {
    "switch": "Change a rule of one parent, in the text and in all programs together, so that another reasoning is asked for.",
    "pipe": "Solve one parent first; its answer becomes a parameter of another parent.",
    "guard": "A condition on the answer of one parent decides which of two rules holds in another parent.",
    "aggregate": "Give several instances of one parent and ask about all their answers: how many, the largest, which one, a parity.",
    "invert": "Turn the question of one parent round: which index, or the smallest parameter such that the answer has a property.",
    "filter": "Add a constraint to one parent that selects what counts: a parity, a bound, distinctness.",
    "constraint_world": "Leave the parents' texts aside. Invent a new kind of puzzle: things with unknown places, groups or colours, a few kinds of "
    "statements about them, and a question on all the arrangements that fit.",
    "process_world": "Leave the parents' texts aside. Invent a new kind of puzzle: a few quantities or places that change turn by turn under "
    "rules of your own, and a question on the run.",
}


@dataclass(frozen=True)
class EvolutionSources:
    """What a cycle's proposals are made from.

    Attributes:
        population: families that may be parents, in an order that the caller fixes. known: fingerprints of every family there is, blocked ones too.
        experience: lessons that requests show. guidance: what people asked for. factors: of the draw of parents, see `operators.novelty`.
    """

    population: Sequence[Family]
    known: Sequence[Fingerprint] = ()
    experience: Sequence[str] = ()
    guidance: Sequence[str] = ()
    factors: Mapping[str, float] | None = None

    @cached_property
    def fingerprints(self) -> dict[str, Fingerprint]:
        """Fingerprint of each known family, by its id."""
        return {item.family_id: item for item in self.known}


def request_of(sources: EvolutionSources, number: int, *, cycle: str, root_seed: int, settings: FamiliesSettings) -> EvolveRequest:
    """The request of attempt `number` of a cycle."""
    random = generator(root_seed, LINE, cycle, "parents", number)
    operator = turn(number, start=_start(cycle, settings), share=settings.world_share)
    deepest = None if operator == "switch" or operator in WORLDS else settings.composition_depth
    chosen = novel_parents(sources.population, PARENTS, random, known=sources.fingerprints, deepest=deepest, factors=sources.factors)
    return FamilyRequest(
        deepest=settings.composition_depth, operator=operator, idea=IDEAS[operator], validators_by=settings.validator_authors,
        experience=list(sources.experience), guidance=list(sources.guidance),
        records=[to_record(item) for item in chosen],
        parents=[
            ParentMaterial(
                title=item.title, category=item.category, language=item.language, generator=item.generator, statement=stated(item),
                validator=item.validator, validators=dict(item.validators), reader=item.reader,
            )
            for item in chosen
        ],
    )


def _start(cycle: str, settings: FamiliesSettings) -> int:
    """With which composing operator a cycle begins: where the one before it ended."""
    composed = settings.families_per_cycle - int(settings.families_per_cycle * settings.world_share)
    return (int(cycle) - 1) * composed if cycle.isdigit() else 0
