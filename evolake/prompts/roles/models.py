"""What each role of the prompts line is asked and what it answers: Pydantic models, shared by both backends
(E-SPL, appendices A.1 to A.5), and the parts of a prompt that are there only if there is something to say.

Fields whose description says "operators only" are hidden from prompts. Every role is served by a fixed
reference model, never by the policy that is trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.fences import as_text, clean, fence

ShortText = Annotated[str, Field(max_length=1000)]
LongText = Annotated[str, Field(max_length=6000)]
Id = Annotated[str, Field(max_length=20)]
Library = Annotated[
    list[dict[str, Any]], Field(description="operators only: the entries of the principle library")
]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PrincipleText(Model):
    """A principle of a system prompt, unchanged."""

    id: str
    text: str


class SummaryRequest(Model):
    """One rollout to be summarised. answer: the ground truth, as JSON. answered: an answer in the wanted form was found in the reply."""

    principles: list[PrincipleText]
    problem: str
    answer: str
    reply: str
    correct: bool
    answered: bool
    truncated: bool


class SummaryReply(Model):
    """What a rollout did. steps: step by step. principles_used: ids. errors: where it went wrong or took a detour, one phrase each."""

    steps: LongText
    principles_used: list[Id] = Field(default_factory=list)
    errors: list[ShortText] = Field(default_factory=list)


class Trajectory(Model):
    """A rollout with its outcome: the reply itself, if it is short, else its summary. count: how many rollouts said the same. words: length of the
    reply. cut: whether it ran into its limit. unscored: why the problem's own verifier gave no score, so that the reply counts as a failure; "" if it did."""

    success: bool
    count: int
    words: int
    reply: str = ""
    steps: str = ""
    principles_used: list[str] = Field(default_factory=list)
    errors: list[str] = Field(default_factory=list)
    unscored: str = ""
    cut: bool = False


class CritiqueRequest(Model):
    """The trajectories of one problem, successful and failed ones, under one system prompt."""

    principles: list[PrincipleText]
    problem: str
    answer: str
    trajectories: list[Trajectory]
    library: Library = Field(default_factory=list)


class CritiqueReply(Model):
    """What sets success and failure apart. insufficient: ids of principles that did not prevent a failure and should be edited."""

    successes: list[ShortText] = Field(default_factory=list)
    failures: list[ShortText] = Field(default_factory=list)
    guidance_needed: list[ShortText] = Field(default_factory=list)
    insufficient: list[Id] = Field(default_factory=list)


class LocalRequest(Model):
    """Edit a system prompt by what one problem taught; at most `limit` edits. `standing`: rating, pass rates
    and duel of the prompt. tried: a table of earlier children and edits. siblings: what other requests of the
    batch proposed, and which of them this one is."""

    principles: list[PrincipleText]
    problem: str
    critique: CritiqueReply
    limit: int
    standing: str = ""
    tried: str = ""
    siblings: str = ""
    guidance: list[str] = Field(default_factory=list)
    library: Library = Field(default_factory=list)


class LocalEdit(Model):
    """add: `text` is a new principle. modify: `text` takes the place of the text of `target`; `old` may quote what stands there."""

    kind: Literal["add", "modify"]
    target: Id = ""
    old: ShortText = ""
    text: ShortText


class LocalReply(Model):
    edits: list[LocalEdit] = Field(default_factory=list)


class Suggestion(Model):
    """A text for a principle, and how many problems asked for it."""

    id: str
    text: str
    problems: int


class GlobalRequest(Model):
    """Consolidate the edits of a whole batch. principles: with all additions in place, which `new` names. suggestions: other texts for principles.
    `standing`: as in LocalRequest, without the additions. refused: edits that did not apply, with the
    reason."""

    principles: list[PrincipleText]
    new: list[str]
    suggestions: list[Suggestion]
    standing: str = ""
    refused: list[str] = Field(default_factory=list)
    guidance: list[str] = Field(default_factory=list)
    library: Library = Field(default_factory=list)


class GlobalEdit(Model):
    """modify: one target. merge: two or more targets, replaced by one principle."""

    kind: Literal["modify", "merge"]
    targets: list[Id]
    text: ShortText


class GlobalReply(Model):
    edits: list[GlobalEdit] = Field(default_factory=list)


class Contender(Model):
    """A system prompt of the iteration. won: numbers of the problems it was best on. values: its mean reward on each problem, null if unknown.
    `standing`: its rating, pass rate and duel."""

    name: str
    principles: list[PrincipleText]
    won: list[int]
    values: list[float | None]
    standing: str = ""


class BatchProblem(Model):
    number: int
    text: str
    category: str
    answer: str


class CrossRequest(Model):
    """Edit `best`, the prompt with the highest total, by what the others do better; at most `limit` edits. tried: as in LocalRequest."""

    best: Contender
    others: list[Contender]
    problems: list[BatchProblem]
    limit: int
    tried: str = ""
    guidance: list[str] = Field(default_factory=list)
    library: Library = Field(default_factory=list)


class CrossEdit(Model):
    """Targets are ids of the best prompt: none for add, one for modify and drop, two or more for merge. `text` is empty for drop."""

    kind: Literal["add", "modify", "merge", "drop"]
    targets: list[Id] = Field(default_factory=list)
    text: ShortText = ""


class CrossReply(Model):
    analysis: LongText = ""
    edits: list[CrossEdit] = Field(default_factory=list)


STANDING = "How this prompt stands"
TRIED = "What was tried before: do not repeat what failed"
SIBLINGS = "Other requests of this batch"
GUIDANCE = "What people asked for"


def sections(*, guidance: Sequence[str] = (), **named: tuple[str, object]) -> str:
    """Return headed blocks of data, and what people asked for; parts that are empty are left out. named: of a
    block -> (heading, value)."""
    blocks = [
        f"# {heading}\n{fence(as_text(value), name)}" for name, (heading, value) in named.items() if value
    ]
    asked = "\n".join(f"- {clean(item)}" for item in guidance)
    return "\n\n".join([*([f"# {GUIDANCE}\n{asked}"] if asked else []), *blocks])


def by_id(principles: Iterable[PrincipleText]) -> dict[str, str]:
    """Return id -> text."""
    return {item.id: item.text for item in principles}
