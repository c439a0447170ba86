"""The writer as a session: it reads, changes and evaluates a program by tools before it is done, instead of
writing one reply.

There is no classical answer: by operators a child is made of typed changes (`writer`).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.fences import fence
from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.programs.roles.brief import Briefing, Standing, sections


class WriterSessionRequest(Briefing):
    """What the session is for, and what it starts from. files: those that evolve, as the parent has them."""

    files: list[str]
    program: str = Field(default="", description="the texts, if they are short: they need no turn to be read")
    parent: Standing
    best: list[Standing] = Field(default_factory=list)


def prompt_values(request: WriterSessionRequest) -> dict[str, str]:
    """Return the values of the prompt."""
    shown = (
        f"{sections(request, request.parent, request.best)}\n\n# The program\n"
        f"{fence(request.program, 'program')}"
        if request.program
        else ""
    )
    return {
        "brief": shown or sections(request, request.parent, request.best),
        "files": ", ".join(request.files),
    }


class ProgramCard(BaseModel):
    """What the session ends with; its files are the program."""

    model_config = ConfigDict(extra="forbid")
    idea: str = Field(
        max_length=2000, description="what was changed, on what evidence, and what it should improve"
    )


class Check(Arguments):
    """Without arguments."""


class Evaluate(Arguments):
    """Without arguments."""


class RunScript(Arguments):
    script: str = Field(min_length=1, max_length=60_000, description="Python text")


WRITER_SESSION = session_role(
    "programs_writer_session",
    WriterSessionRequest,
    ProgramCard,
    setting="EVOLAKE_PROGRAMS__WRITER",
    values=prompt_values,
    commands=(
        (
            "check",
            "Say whether the program may be evaluated: only its blocks are changed, it can be read, and "
            "it has no way to the evaluator.",
            Check,
        ),
        (
            "evaluate",
            "Build the program and evaluate it as a candidate is: its score and metrics, or the gate that "
            "blocks it and why.",
            Evaluate,
        ),
        (
            "run",
            "Run a Python script next to the program's files, which it may import, in the sandbox, "
            "without the evaluator and without files: the end of what it prints. It counts as an "
            "evaluation.",
            RunScript,
        ),
    ),
)
"""Change a program in a workspace."""
