"""Sizes of the `families` line."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FamiliesSettings(BaseModel):
    """How much a cycle of the `families` line does."""

    model_config = ConfigDict(extra="forbid")
    families_per_cycle: int = Field(default=24, gt=0)
    refinements: int = Field(default=2, ge=0, description="t_max: refinements of a blocked family")
    instances_per_family: int = Field(default=100, gt=0)
