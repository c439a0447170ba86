"""What the roles that propose are sent: which operator has its turn, which families it gets as parents, what
the corpus lacks, and lessons that the curator makes from what blocked families (the verdicts of record and
the stored evidence)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.agents.attempts import SiblingNote, TriedIdea, attempts_table, direction_of
from evolake.families.evolution.records import load_evidence
from evolake.families.evolution.refining import Observation, kind_of, traces_of
from evolake.families.model.contract import ANSWER_TYPES, CATEGORIES, Family, to_record
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.statement import stated
from evolake.families.operators.of_many import lists_answers
from evolake.families.operators.registry import (
    CONSTRUCTIVE,
    OF_MANY,
    WORLD_TURNS,
    WORLDS,
    novel_parents,
    turn,
)
from evolake.families.roles.evolution_agent import FamilyRequest
from evolake.families.roles.models import CurateRequest, EvolveRequest, ParentMaterial
from evolake.families.roles.reviewers import CURATOR_ROLE
from evolake.families.settings import FamiliesSettings
from evolake.gates import Ruleset, load_rules
from evolake.lake import BlobStore
from evolake.project import BROUGHT
from evolake.seeds import child_seed, generator

MOST_TITLES = 25
"""Titles of one category that a line shows, the newest."""
LONGEST_TITLE = 60
NO_DIRECTION = ("any", "boolean")
"""Types of answers that nobody is sent after: a guess of yes or no is right half of the time."""


def corpus_lines(accepted: Sequence[Family]) -> list[str]:
    """Return a line for each category that has families: their number, and titles with the type of the
    answer."""
    lines: list[str] = []
    for category in CATEGORIES:
        families = [family for family in accepted if family.category == category]
        shown = "; ".join(
            f"{family.title[:LONGEST_TITLE]} ({family.answer.type})" for family in families[-MOST_TITLES:]
        )
        more = f"; and {len(families) - MOST_TITLES} older ones" if len(families) > MOST_TITLES else ""
        lines += [f"{category}, {len(families)}: {shown}{more}"] if families else []
    return lines


def directions(accepted: Sequence[Family]) -> list[str]:
    """Return what the corpus lacks, the rarest first: a category with a type of answer, each once, so that
    siblings get different ones.

    Of pairs that are as rare, those of rarer categories and types come first.
    """
    pairs = Counter((family.category, family.answer.type) for family in accepted)
    categories, types = (
        Counter(family.category for family in accepted),
        Counter(family.answer.type for family in accepted),
    )
    wanted = [
        (category, kind)
        for category in CATEGORIES
        if category != "other"
        for kind in ANSWER_TYPES
        if kind not in NO_DIRECTION
    ]
    ordered = sorted(wanted, key=lambda pair: (pairs[pair], categories[pair[0]] + types[pair[1]], pair))
    return [
        f"a kind of task that no accepted family has, if it can be: {category} reasoning, an answer of "
        f"type {kind} ({pairs[category, kind]} of {len(accepted)} accepted families have both)"
        for category, kind in ordered
    ]


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
    "series": "Give several instances of one parent and ask for the list of all their answers.",
    "extend": "Add a rule to one parent with many right answers, which only some of them keep.",
    "aim": "Change the objective of one parent with many right answers: only those near the best one count.",
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
            parents, see `operators.registry`.
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
    population = sources.population
    if operator in OF_MANY:
        population = [family for family in population if lists_answers(family)]
        operator = operator if population else WORLD_TURNS[0]
    deepest = None if operator == "switch" or operator in WORLDS else settings.composition_depth
    chosen = novel_parents(
        population or sources.population,
        PARENTS,
        random,
        known=sources.fingerprints,
        deepest=deepest,
        factors=sources.factors,
        constructive=operator in CONSTRUCTIVE,
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


def observations(
    gated: Iterable[Mapping[str, Any]], blobs: BlobStore, lessons: Mapping[str, str]
) -> list[Observation]:
    """Return one for each gate that blocked a family. gated: as `stages.gates_of` gives them. lessons: see
    `lessons_of`."""
    blocks: list[Observation] = []
    for said in gated:
        if said["passed"]:
            continue
        evidence = load_evidence(said["evidence_sha"], blobs)["evidence"]
        rule_id = said["rule_id"]
        kind, traces = kind_of(rule_id, evidence), traces_of(rule_id, evidence)
        blocks.append(
            Observation(
                said["family_id"],
                kind,
                said["gate"],
                rule_id,
                said["reason"],
                traces,
                lessons.get(rule_id, ""),
            )
        )
    return blocks


def lessons_of(ruleset: Ruleset) -> dict[str, str]:
    """Return rule -> lesson, "" if it has none. If a project was laid out before rules had lessons, the
    shipped rule of that id gives its own.
    """
    shipped = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", ruleset.line).lessons
    return {rule.id: rule.lesson or shipped.get(rule.id, "") for rule in ruleset.rules}


def failure_rows(blocks: Sequence[Observation], cycle: str) -> list[dict[str, Any]]:
    """Return rows of FAILURES."""
    return [
        {
            "family_id": item.family_id,
            "cycle": cycle,
            "kind": item.kind,
            "gate": item.gate,
            "rule_id": item.rule_id,
            "reason": item.reason,
            "lesson": item.lesson or None,
            "traces": list(item.traces),
        }
        for item in blocks
    ]


MOST_LESSONS = 30
"""Lessons that proposers are sent."""


def learn(
    agents: Agents,
    existing: Sequence[str],
    observations: Sequence[Observation],
    *,
    settings: FamiliesSettings,
    cycle: str,
    root_seed: int,
) -> list[str]:
    """Return the experience after these observations; what there was if the curator gives no usable reply. A
    model is asked only about a new lesson."""
    lessons = [observation.lesson for observation in observations if observation.lesson]
    by_operators = agents.backend.name == "operators"
    if not lessons or (not by_operators and set(lessons) <= set(existing)):
        return list(existing)
    request = CurateRequest(
        existing=list(existing),
        candidates=list(dict.fromkeys(lessons)),
        limit=MOST_LESSONS,
        blocked=[] if by_operators else blocked_lines(observations),
    )
    reply = agents.call(CURATOR_ROLE, request, seed=child_seed(root_seed, LINE, cycle, "experience")).value
    return list(existing) if isinstance(reply, AgentFailure) else reply.items[:MOST_LESSONS]


def blocked_lines(observations: Sequence[Observation]) -> list[str]:
    """Return a line for each rule that blocked families: how many, and the reason of the last one."""
    last = {(item.gate, item.rule_id): item for item in observations}
    counts = Counter((item.gate, item.rule_id) for item in observations)
    return [
        f"gate {gate}, {rule}: {counts[gate, rule]} blocked, the last for: {item.reason[:200]}"
        for (gate, rule), item in last.items()
    ]
