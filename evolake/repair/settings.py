"""Sizes of the `repair` study."""

from __future__ import annotations

from pydantic import Field, field_validator

from evolake.repair.names import DEFAULT_ARMS, OPT_IN_ARMS, in_order
from evolake.settings import LineSettings


class RepairSettings(LineSettings):
    """How much the study does."""

    problems: int = Field(default=500, gt=0, description="problems of the main benchmark")
    seeds: int = Field(default=3, gt=0, description="seeds each arm is run with, counted from 0")
    candidates: int = Field(default=4, gt=0, description="K: candidates a round")
    rounds: int = Field(default=4, gt=0, description="R: rounds")
    perturbed: int = Field(
        default=100, ge=0, description="main problems that are also run scaled, permuted and relabelled"
    )
    transfer: int = Field(default=40, ge=0, description="Sudoku 4x4 grids")
    arms: list[str] = Field(
        default=list(DEFAULT_ARMS),
        description=(
            "what is compared; by default the paper's five and four controls; opt-in: "
            f"{', '.join(OPT_IN_ARMS)}"
        ),
    )
    solver_timeout_ms: int = Field(
        default=1500,
        gt=0,
        description="milliseconds a certification may take, counted as 1,000 solver steps each",
    )

    @field_validator("arms")
    @classmethod
    def _known(cls, arms: list[str]) -> list[str]:
        return list(in_order(arms))
