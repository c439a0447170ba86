"""Run the designer as a session: it writes its file, has it traced, and compares it on small instances with
the design it started from before it is done.

There is no classical answer: by operators a design is made of terms in one step (`designer`).
"""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.designs.roles.models import (
    DesignDetail,
    Direction,
    LongText,
    ReferenceWeight,
    RoleMessage,
    normalised,
)
from evolake.designs.roles.request_text import DIRECTION_TEXTS, detail_text, prompt_values

LARGEST_TRIAL, MOST_INSTANCES, MOST_STEPS, MOST_SEEDS = 113, 32, 5_000, 6
"""Variables, instances of a seed, work, and seeds of one trial."""


class ReferenceCard(RoleMessage):
    """A reference by its file in the workspace, without its source."""

    file: str
    detail: DesignDetail


class DesignSessionRequest(Direction):
    """What the session is for, and what it starts from."""

    references: list[ReferenceCard]
    start: str = Field(description="what `design.py` holds at first")
    objectives: list[str]
    schedule: str
    turns: int = Field(description="turns that the session has at most")


class DesignCard(BaseModel):
    """What the session ends with; its file is the design."""

    model_config = ConfigDict(extra="forbid")
    explanation: LongText = Field(
        description="what was changed, on what evidence, and what it should improve"
    )
    short_name: str = Field(max_length=40, description="a title of at most 40 characters")
    reference_weights: list[ReferenceWeight] = Field(
        default_factory=list, description="share of each reference in this design; they sum to 1"
    )

    @model_validator(mode="after")
    def weights_sum_to_one(self) -> DesignCard:
        """Scale the reference weights so that they sum to 1."""
        self.reference_weights = normalised(self.reference_weights)
        return self


class Check(Arguments):
    """Without arguments."""


class Trial(Arguments):
    variables: int = Field(default=20, ge=3, le=LARGEST_TRIAL, description="variables of each instance")
    instances: int = Field(default=16, ge=2, le=MOST_INSTANCES, description="instances of each seed")
    seeds: int = Field(
        default=4,
        ge=1,
        le=MOST_SEEDS,
        description="batches of instances; the interval of the ratio is over them",
    )
    max_steps: int = Field(
        default=1000,
        ge=1,
        le=MOST_STEPS,
        description="work that is allowed a batch, in steps of the baseline",
    )


def _cards_text(request: DesignSessionRequest) -> str:
    """Return the references by their files."""
    return (
        "\n\n".join(
            f"file {item.file}\n{detail_text(item.detail, source=False)}" for item in request.references
        )
        or "none"
    )


DESIGN_SESSION = replace(
    session_role(
        "designs_designer_session",
        DesignSessionRequest,
        DesignCard,
        setting="EVOLAKE_DESIGNS__DESIGNER",
        commands=(
            ("check", "Trace design.py: says how many operators it has, or why it is no design.", Check),
            (
                "trial",
                "Run design.py and the design that it started from on the same planted instances: steps, "
                "work, and the ratio of work with its 95% interval.",
                Trial,
            ),
        ),
    ),
    values=prompt_values("goal", contract=True, references=_cards_text, written=DIRECTION_TEXTS),
)
"""Write one new design in a workspace."""
