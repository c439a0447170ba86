"""The coder as a session: it reads, edits, builds and tries a repository by tools before it is done, instead
of writing one diff from excerpts.

There is no classical answer: by operators a variant is made of edits, and the roles of `coder` make it.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.solvers.roles.models import Change, LongText, Tried
from evolake.solvers.roles.prompt_tables import change_values

MOST_SMOKE, MOST_BENCH = 12, 12
"""Formulas that one command may run."""


class SessionRequest(Change):
    """What the session is for, and what it starts from."""

    second_parent_diff: str = ""
    second_base: str = Field(
        default="", description="for a crossover: the second parent's base, where it is another one"
    )
    rules: list[str]
    editable: list[str] = Field(description="globs of the files that may be changed")
    knowledge: list[str] = Field(
        default_factory=list, description="what is known of such solvers, and how this evolution works"
    )
    tried: list[Tried] = Field(
        default_factory=list,
        description="what became of the plans of this cycle that were carried out before this one",
    )
    references: list[str] = Field(default_factory=list, description="folders of other solvers, to be read")
    turns: int = Field(default=0, description="replies that the session has; 0 if that is not known")


class SessionReply(BaseModel):
    """What the session ends with; its files are the change."""

    model_config = ConfigDict(extra="forbid")
    title: str = Field(max_length=60, description="the change in a few words")
    changelog: LongText = Field(description="what was changed and why, for CHANGELOG.md")


class Build(Arguments):
    """Without arguments."""


class Smoke(Arguments):
    formulas: int = Field(
        default=3,
        ge=1,
        le=MOST_SMOKE,
        description="how many fresh formulas, each with a renamed and a shuffled copy",
    )
    draw: int = Field(
        default=1,
        ge=1,
        description="another number draws other formulas; so does every change of the sources",
    )


class RunFormula(Arguments):
    formula: str = Field(max_length=200, description="name of a formula that smoke or bench has named")


class BenchFormulas(Arguments):
    formulas: int = Field(
        default=6,
        ge=1,
        le=MOST_BENCH,
        description="how many fresh formulas of the training families, each run by the parent too",
    )
    draw: int = Field(
        default=1,
        ge=1,
        description="another number draws other formulas; so does every change of the sources",
    )


def _prompt_values(request: SessionRequest) -> dict[str, Any]:
    return change_values(request) | {
        "editable": request.editable,
        "references": request.references,
        "turns": request.turns or "some",
    }


CODER_SESSION = session_role(
    "solvers_coder_session",
    SessionRequest,
    SessionReply,
    setting="EVOLAKE_CODER",
    values=_prompt_values,
    commands=(
        ("build", "Build the repository from scratch. Says what the compiler says.", Build),
        (
            "smoke",
            "Build it and run it on fresh formulas that need search, and on the small ones of the gate; "
            "checks models and some proofs.",
            Smoke,
        ),
        ("run_formula", "Build it and run it on one formula; shows the end of its output.", RunFormula),
        (
            "bench",
            "Build it and run it next to its parent on fresh formulas. Ends with the ratio of PAR-2 and "
            "its interval.",
            BenchFormulas,
        ),
    ),
)
