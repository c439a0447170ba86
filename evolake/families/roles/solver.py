"""The solver whose success measures difficulty: a model that answers from the text alone, without tools.

Operators have no such solver: their only way to an answer is a validator, which is right by construction and
would measure nothing.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from evolake.agents.roles import Role
from evolake.families.roles.models import Model


class SolveRequest(Model):
    """One question."""

    statement: str


class SolveReply(Model):
    """final: the text with \\boxed{answer}."""

    reasoning: Annotated[str, Field(max_length=200_000)] = ""
    final: Annotated[str, Field(max_length=20_000)]


def solve_without_model(request: SolveRequest, random: np.random.Generator) -> SolveReply:
    """N/A, which is right nowhere."""
    return SolveReply(final=r"\boxed{N/A}")


SOLVER_ROLE = Role("families_solver", SolveRequest, SolveReply, solve_without_model)
