"""Sizes of the line, and what it needs of the machine."""

from __future__ import annotations

import sys

from pydantic import BaseModel, ConfigDict, Field

from evolake.lines import Requirement


class GolombSettings(BaseModel):
    """Sizes of the line."""

    model_config = ConfigDict(extra="forbid")
    marks: int = Field(default=6, ge=3, description="marks of a ruler")
    rulers_per_cycle: int = Field(default=8, gt=0, description="candidates of a cycle")


def requirements() -> list[Requirement]:
    """Whole numbers of 64 bits."""
    return [
        Requirement(
            "whole numbers of 64 bits",
            sys.maxsize > 2**32,
            f"up to {sys.maxsize}",
            "the golomb line",
            "use a 64-bit Python",
        )
    ]
