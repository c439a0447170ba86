"""The writer as a session: it reads, changes and evaluates a program by tools before it is done, instead of writing one reply.

There is no classical answer: by operators a child is made of typed changes (`writer`).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.session.role import session_role
from evolake.agents.session.tools import Arguments


class Standing(BaseModel):
    """A program by its folder in the workspace, with what it scored."""

    folder: str
    score: float
    metrics: dict[str, float] = Field(default_factory=dict)


class WriterSessionRequest(BaseModel):
    """What the session is for, and what it starts from. files: those that evolve, as the parent has them."""

    project: str
    instructions: str = ""
    goal: str
    files: list[str]
    parent: Standing
    best: list[Standing] = Field(default_factory=list)
    artifacts: dict[str, str] = Field(default_factory=dict)
    failures: list[str] = Field(default_factory=list)
    guidance: list[str] = Field(default_factory=list)


class ProgramCard(BaseModel):
    """What the session ends with; its files are the program."""

    model_config = ConfigDict(extra="forbid")
    idea: str = Field(max_length=2000, description="what was changed, on what evidence, and what it should improve")


class Check(Arguments):
    """Without arguments."""


class Evaluate(Arguments):
    """Without arguments."""


WRITER_SESSION = session_role(
    "programs_writer_session", WriterSessionRequest, ProgramCard, setting="EVOLAKE_PROGRAMS__WRITER",
    commands=(
        ("check", "Say whether the program may be evaluated: only its blocks are changed, it can be read, and it has "
         "no way to the evaluator.", Check),
        ("evaluate", "Build the program and evaluate it as a candidate is: its score and metrics, or the gate that blocks "
         "it and why.", Evaluate),
    ),
)
"""Change a program in a workspace."""
