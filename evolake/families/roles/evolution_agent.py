"""The evolution agent, which writes and fixes families: as one reply, by the operators or a model, and as a
session. Source of the role: SSLogic, section 3.2, phase I.

The classical agent is one of the operators on the parents of the request. What operators compose is right by
construction if the parents are, so a block says mostly that this choice of rules gives a poor family: answers
that hardly vary, an answer that is in the text, a double of another. A rule is switched then; a draft that
failed to run is given up.

The session writes the files of a family, runs the generator, looks at samples and sees how validators vote.
It has no classical answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.roles import Role, hide
from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.families.model.contract import Family, from_record, to_record
from evolake.families.model.source_code import NotComposable, switch
from evolake.families.operators.common import named
from evolake.families.operators.of_families import deciding, raised, retold, series
from evolake.families.operators.registry import COMPOSING, child_of, depth
from evolake.families.roles.models import (
    Draft,
    EvolveReply,
    EvolveRequest,
    Model,
    NamedSource,
    ShortText,
    family_fault,
)
from evolake.gates import Raised, contained

ValidatorAuthors = Literal["separate", "together"]
WANTED: dict[ValidatorAuthors, str] = {
    "separate": (
        "Leave `validators` empty: others write them from the statement and some instances, and never see "
        "your programs."
    ),
    "together": (
        "Write at least two independent `validators`, by other algorithms (one of them brute force), not "
        "rewrites of the first."
    ),
}
"""What a model is told of the independent validators."""
NEW, BLOCKED, MEASURED = (
    "Write one new family.",
    "Correct the version below so that all that is said against it is met, and give all texts again.",
    "The version below was run before anybody else sees it. Correct all faults, and give all texts again: "
    "no further run comes before the gates.",
)
"""The task of a first version, of one that a gate blocked, and of one that was measured."""
DRAWS = 6
"""Children that are drawn of one operator until one is new."""
MIDDLE, SAFE = 5, 0.2
"""The level whose answers say whether the levels above can be guessed, and the share that may be."""
WEAK = 0.35
"""Share of instances that need a rule, below which such instances are drawn."""
GIVEN_UP = ("execution",)
"""Gates whose block no other rule mends."""


class FamilyRequest(EvolveRequest):
    """As `EvolveRequest`. validators_by: who writes the independent validators, see the setting `validator_authors`."""

    validators_by: ValidatorAuthors = Field(default="separate")
    deepest: int | None = Field(
        default=None, description="operators only: compositions that may lie inside one another"
    )


def evolve(request: EvolveRequest, random: np.random.Generator) -> EvolveReply:
    """Return a new child, or a repaired draft; if there is none, an empty reply that says why."""
    return _corrected(request, random) if request.draft is not None else _child(request, random)


def _child(request: EvolveRequest, random: np.random.Generator) -> EvolveReply:
    """Return a child by the operator asked for; if no parent allows it, by another one."""
    parents = [from_record(record) for record in request.records]
    others = [name for name in COMPOSING if name != request.operator]
    order = [request.operator, *(others[place] for place in random.permutation(len(others)).tolist())]
    deepest = _deepest(request)
    reasons = []
    for name in order:
        for _ in range(DRAWS):
            child = _composed(lambda name: child_of(name, parents, random, deepest=deepest), name)
            if isinstance(child, str):
                reasons.append(f"{name}: {child}")
                break
            if child.family_id not in request.taken:
                return as_reply(child, parents, "; ".join(reasons))
    return EvolveReply(note="; ".join(reasons)[:1000] or "every child that was drawn is there already")


def _deepest(request: EvolveRequest) -> int | None:
    return request.deepest if isinstance(request, FamilyRequest) else None


def _corrected(request: EvolveRequest, random: np.random.Generator) -> EvolveReply:
    """Return the draft under another alternative of one rule; the rules of the draft's operator (the last
    ones) are tried before those of its parents. One that can be guessed, or hardly needs a rule, keeps its
    rules and asks for more, if it can."""
    assert request.draft is not None and request.draft_record is not None
    parents, draft = [from_record(record) for record in request.records], from_record(request.draft_record)
    if request.draft.gate in GIVEN_UP:
        return EvolveReply(note=f"no other rule mends a block at the gate {request.draft.gate!r}")
    for correct in _corrections(request.draft, draft, _deepest(request)):
        child = _composed(correct)
        if not isinstance(child, str) and child.family_id not in request.taken:
            return as_reply(replace(child, parents=draft.parents), parents, "it asks for more now")
    options = [
        (place, point.name, item.name)
        for place, point in enumerate(reversed(draft.points))
        for item in point.alternatives
        if item.name != point.chosen
    ]
    for number in sorted(random.permutation(len(options)).tolist(), key=lambda item: options[item][0]):
        _, point, alternative = options[number]
        child = _composed(lambda point, alternative: _switched(draft, point, alternative), point, alternative)
        if isinstance(child, str):
            continue
        if child.family_id not in request.taken:
            return as_reply(child, parents, f"{point} is {alternative} now")
    return EvolveReply(note="no rule of the draft is left to switch")


def _switched(draft: Family, point: str, alternative: str) -> Family:
    """Return the draft under another alternative of a rule, with a title that says so."""
    changed = switch(draft, point, alternative)
    return named(replace(changed, title=retold(draft, changed)))


def _corrections(blocked: Draft, draft: Family, deepest: int | None) -> list[Callable[[], Family]]:
    """Return what may correct a draft under its rules. Where few instances need a rule: such are drawn. Where a
    guess is right too often: without the easy levels, if the middle one cannot be guessed; as a series of
    cases, if that is not too deep. A drawn world is no series: that would be a child without parents."""
    if blocked.rule_id not in ("families-vital-rules", "families-guessable"):
        return []
    shares = [json.loads(trace) for trace in blocked.traces]
    if blocked.rule_id == "families-vital-rules":
        return [lambda: deciding(draft, _weak(shares))]
    middle = [
        row for row in shares if row["difficulty"] == MIDDLE and max(row["constant"], row["pair"]) <= SAFE
    ]
    corrections: list[Callable[[], Family]] = [lambda: raised(draft)] if middle else []
    if draft.parents and (deepest is None or depth(draft) < deepest):
        corrections.append(lambda: series([draft], np.random.default_rng(0)))
    return corrections


def _weak(shares: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(row["rule"], row["way"]) for row in shares if row["changed"] < WEAK * row["instances"]}


def _composed(make: Callable[..., Family], *arguments: Any) -> Family | str:
    """Return the child, or why there is none: parents that do not compose, or that make our code raise. One
    bad parent stops no other."""

    def compose() -> Family | str:
        try:
            return make(*arguments)
        except NotComposable as error:
            return str(error)

    result = contained(compose)
    return result.reason if isinstance(result, Raised) else result


def as_reply(child: Family, parents: list[Family], note: str = "") -> EvolveReply:
    """Return the child as the role's reply, whole in `record`."""
    record = to_record(child)
    ids = [parent.family_id for parent in parents]
    return EvolveReply(
        title=child.title,
        category=record["category"],
        language=record["language"],
        answer_type=child.answer.type,
        operator=child.operator,
        used_parents=[ids.index(parent) + 1 for parent in child.parents if parent in ids],
        generator=child.generator,
        template=child.template,
        validator=child.validator,
        validators=[NamedSource(name=name, source=source) for name, source in child.validators.items()],
        reader=child.reader,
        note=note[:1000],
        record=json.dumps(record, ensure_ascii=False),
    )


def _prompt_values(request: EvolveRequest) -> dict[str, Any]:
    """Return what a model reads. For a correction the version below is all that it needs: parents, corpus and
    attempts are left out."""
    values = hide("records", "draft_record", "taken", "validators_by", "deepest", "generation")(request)
    draft = request.draft
    if draft is None:
        task = NEW
    elif draft.measured:
        task = MEASURED
    else:
        task = BLOCKED
    generation = request.generation if draft is None else None
    values |= {
        # what siblings propose is a candidate's text, so it is fenced; the rest of the note is ours
        "generation": generation.model_copy(update={"siblings": []}).text() if generation else "",
        "siblings": generation.siblings if generation else [],
        "validators": WANTED[request.validators_by if isinstance(request, FamilyRequest) else "separate"],
        "task": task,
    }
    if draft is not None:
        values |= {
            "parents": [],
            "corpus": [],
            "tried": "",
            "draft": draft.model_dump(mode="json", exclude={"measured", "rule_id"}, exclude_defaults=True),
        }
    return values | {name: values[name] or None for name in ("parents", "corpus", "siblings", "tried")}


EVOLUTION_ROLE = Role(
    "families_evolution_agent", EvolveRequest, EvolveReply, evolve, values=_prompt_values, fault=family_fault
)
"""Make a family of parents; correct one that was blocked."""


MOST_SAMPLES = 6
"""Instances that one command may draw."""


class ParentCard(Model):
    """A parent by its folder in the workspace."""

    folder: str
    title: str
    category: str
    language: str


class BlockedDraft(Model):
    """Why the version in the workspace was blocked. faults: what else its gate says. traces: without the answers of anybody but its own primary."""

    kind: str
    gate: str
    reason: str
    faults: list[str]
    traces: list[str]


class FamilySessionRequest(Model):
    """What the session is for, and what it starts from. The fields are those of `EvolveRequest`, None if empty; siblings: what others of the cycle
    proposed."""

    operator: str
    idea: str
    generation: str
    limits: str
    corpus: list[str] | None
    siblings: list[str] | None
    tried: str | None
    parents: list[ParentCard] | None
    experience: list[str]
    guidance: list[str]
    draft: BlockedDraft | None


class FamilyCard(BaseModel):
    """What the session ends with; its files are the family."""

    model_config = ConfigDict(extra="forbid")
    idea: Annotated[
        str,
        Field(
            max_length=300,
            description="what has to be reasoned about that no accepted family asks, in a sentence",
        ),
    ] = ""
    title: Annotated[str, Field(max_length=200)]
    category: Literal[
        "logical", "spatial", "symbolic", "temporal", "relational", "commonsense", "causal", "other"
    ]
    language: Literal["en", "zh"] = "en"
    answer_type: Literal["integer", "number", "boolean", "string", "list", "mapping", "any"]
    operator: Annotated[str, Field(max_length=40)] = Field(
        default="written", description="what made the family of its parents, in a word"
    )
    used_parents: list[int] = Field(
        default_factory=list, description="numbers of the parents that it was made of, from 1"
    )
    note: ShortText = Field(default="", description="where no family could be made: why")


class Samples(Arguments):
    difficulty: int = Field(default=5, ge=1, le=10)
    count: int = Field(default=2, ge=1, le=MOST_SAMPLES)


class Answers(Arguments):
    difficulty: int = Field(default=5, ge=1, le=10)
    count: int = Field(default=MOST_SAMPLES, ge=1, le=MOST_SAMPLES)


class Votes(Arguments):
    difficulty: int = Field(default=5, ge=1, le=10)
    count: int = Field(default=3, ge=1, le=MOST_SAMPLES)


EVOLUTION_SESSION = session_role(
    "families_evolution_session",
    FamilySessionRequest,
    FamilyCard,
    setting="EVOLAKE_FAMILIES__EVOLUTION_AGENT",
    commands=(
        (
            "check",
            "Run the gates that ask no model: shows everything that they say against the files, all at once.",
            Arguments,
        ),
        ("samples", "Run the generator: shows whole statements and the inputs behind them.", Samples),
        (
            "answers",
            "Run the generator, then the validator and the reader on what it gave: shows what the validator "
            "answers.",
            Answers,
        ),
        (
            "votes",
            "Have independent validators written from your statement by others, and let them vote with "
            "yours: shows who agrees with you.",
            Votes,
        ),
    ),
)
"""Make a family, or mend one that was blocked, in a workspace."""
