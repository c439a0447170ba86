"""Sizes of the `repair` study."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class RepairSettings(BaseModel):
    """How much the study does."""

    model_config = ConfigDict(extra="forbid")
    problems: int = Field(default=500, gt=0)
    seeds: int = Field(default=3, gt=0)
    candidates: int = Field(default=4, gt=0, description="K: candidates a round")
    rounds: int = Field(default=4, gt=0, description="R: rounds")
    solver_timeout_ms: int = Field(default=1500, gt=0)
