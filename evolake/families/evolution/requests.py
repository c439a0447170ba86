"""What the evolution agent is asked: which operator has its turn, and which families it gets as parents."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evolake.agents.attempts import SiblingNote, TriedIdea, attempts_table, direction_of
from evolake.families.evolution.corpus import corpus_lines, directions
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
"""Families that one request offers to operators as parents."""
SHOWN_PARENTS = 2
"""Families that one request shows to a model: as many as an operator joins."""
MOST_TRIED = 24
"""Attempts of all cycles that one request shows."""
IDEAS = {
    "switch": (
        "Change a rule of one parent, in the text and in all programs together, so that another reasoning "
        "is asked for."
    ),
    "pipe": "Solve one parent first; its answer becomes a parameter of another parent.",
    "guard": "A condition on the answer of one parent decides which of two rules holds in another parent.",
    "aggregate": (
        "Give several instances of one parent and ask about all their answers: how many, the largest, "
        "which one, a parity."
    ),
    "invert": (
        "Turn the question of one parent round: which index, or the smallest parameter such that the "
        "answer has a property."
    ),
    "filter": "Add a constraint to one parent that selects what counts: a parity, a bound, distinctness.",
    "constraint_world": (
        "Invent a kind of puzzle that no accepted family has, without a parent: for example things with "
        "unknown places, groups or colours, statements about them, and a question on all the arrangements "
        "that fit."
    ),
    "puzzle_world": (
        "Invent a kind of puzzle that no accepted family has, without a parent: for example a search on a "
        "map, a schedule, a game with perfect play, an exact probability or a word that rules rewrite, "
        "whose answer is a list, a mapping, a word or a fraction."
    ),
    "process_world": (
        "Invent a kind of puzzle that no accepted family has, without a parent: for example quantities or "
        "places that change turn by turn under rules of your own, or choices of several who each want "
        "something, and a question on the run."
    ),
}


@dataclass(frozen=True)
class EvolutionSources:
    """What a cycle's proposals are made from.

    Attributes:
        population: families that may be parents, in an order that the caller fixes. known: fingerprints of
            every family there is, blocked ones too.
        experience: lessons that requests show. guidance: what people asked for. factors: of the draw of
            parents, see `operators.novelty`.
        answered: family_id -> what a policy in training made of it. tried: the attempts of the cycles before,
            the oldest first. waves: in which a model is asked, see `evolake.agents.attempts`.
    """

    population: Sequence[Family]
    known: Sequence[Fingerprint] = ()
    experience: Sequence[str] = ()
    guidance: Sequence[str] = ()
    factors: Mapping[str, float] | None = None
    tried: Sequence[TriedIdea] = ()
    waves: int = 2
    answered: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def fingerprints(self) -> dict[str, Fingerprint]:
        """Fingerprint of each known family, by its id."""
        return {item.family_id: item for item in self.known}

    @cached_property
    def directions(self) -> list[str]:
        """What the accepted families lack, the rarest first."""
        return directions(self.population)


def request_of(
    sources: EvolutionSources,
    number: int,
    *,
    cycle: str,
    root_seed: int,
    settings: FamiliesSettings,
    for_model: bool = False,
) -> EvolveRequest:
    """Return the request of attempt `number` of a cycle. for_model: with what only a model reads, and the
    parents that it needs."""
    random = generator(root_seed, LINE, cycle, "parents", number)
    operator = turn(number, start=_start(cycle, settings), share=settings.world_share)
    deepest = None if operator == "switch" or operator in WORLDS else settings.composition_depth
    chosen = novel_parents(
        sources.population,
        PARENTS,
        random,
        known=sources.fingerprints,
        deepest=deepest,
        factors=sources.factors,
    )
    if for_model:
        chosen = [] if operator in WORLDS else chosen[:SHOWN_PARENTS]
    request = FamilyRequest(
        deepest=settings.composition_depth,
        operator=operator,
        idea=IDEAS[operator],
        validators_by=settings.validator_authors,
        experience=list(sources.experience),
        guidance=list(sources.guidance),
        records=[to_record(item) for item in chosen],
        parents=[
            ParentMaterial(
                title=item.title,
                category=item.category,
                language=item.language,
                generator=item.generator,
                statement=stated(item),
                validator=item.validator,
                reader=item.reader,
            )
            for item in chosen
        ],
    )
    if not for_model:
        return request
    direction = direction_of(sources.directions, number)
    answered = [
        f"Parent {place}: {text}"
        for place, item in enumerate(chosen, 1)
        if (text := sources.answered.get(item.family_id))
    ]
    return request.model_copy(
        update={
            "corpus": corpus_lines(sources.population),
            "tried": attempts_table(sources.tried, about=f"{request.idea} {direction}", most=MOST_TRIED),
            "limits": limits_text(settings),
            "experience": [*answered, *request.experience],
            "generation": SiblingNote(
                number=number + 1, count=settings.families_per_cycle, direction=direction
            ),
        }
    )


def limits_text(settings: FamiliesSettings) -> str:
    """Return what a program of a family may take, and how often it comes back to its author."""
    return (
        f"Python {sys.version_info[0]}.{sys.version_info[1]}, standard library only, no files, no "
        f"network. One instance, answer or reading: {settings.instance_cpu_s:g} s of processor time; "
        f"{settings.call_cpu_s:g} s and {settings.memory_mb} MiB for some tens of them together. A "
        f"version that a gate blocks comes back with the reason at most {settings.refinements} times."
    )


def _start(cycle: str, settings: FamiliesSettings) -> int:
    """With which composing operator a cycle begins: where the one before it ended."""
    composed = settings.families_per_cycle - int(settings.families_per_cycle * settings.world_share)
    return (int(cycle) - 1) * composed if cycle.isdigit() else 0
