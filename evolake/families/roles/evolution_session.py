"""The evolution agent as a session: it writes the files of a family, runs the generator, looks at samples and
sees how validators vote.

There is no classical answer: operators compose families of their parents in one step (`evolution`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.families.roles.models import Model, ShortText

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
