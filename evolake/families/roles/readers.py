"""The roles that answer a statement from its text alone: the blind reviewer, and the solver whose success
measures difficulty.

The classical blind reviewer is a reader and a brute-force strategy, put into one program that sees nothing
but the statement. For each mutation point it looks which alternative's sentence is in the statement, and sets
the strategy's constant to it. If none or two are there, the answer is N/A.

The solver is a model without tools. Operators have none: their only way to an answer is a validator, which is
right by construction and would measure nothing.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from evolake.agents.roles import Role, hide
from evolake.families.model.source_code import NotComposable, set_constant
from evolake.families.model.statement import rules_in
from evolake.families.roles.models import BlindReply, BlindRequest, Model
from evolake.program_templates import fill_template

UNKNOWN = r"\boxed{N/A}"


def solve_blind(request: BlindRequest, random: np.random.Generator) -> BlindReply:
    """First the program; then what it printed, or N/A where it failed."""
    if request.transcript:
        printed = request.transcript[-1].output.strip()
        return BlindReply(
            reasoning="what the program printed", final=printed if "\\boxed" in printed else UNKNOWN
        )
    if not request.reader or not request.strategy:
        return BlindReply(reasoning="there is no reader for this text", final=UNKNOWN)
    expressions = rules_in(request.statement, request.points)
    if isinstance(expressions, str):
        return BlindReply(reasoning=expressions, final=UNKNOWN)
    reader, strategy = request.reader, request.strategy
    try:
        for constant, expression in expressions.items():
            reader = set_constant(reader, constant, expression) or reader
            strategy = set_constant(strategy, constant, expression) or strategy
    except NotComposable as error:
        return BlindReply(reasoning=str(error), final=UNKNOWN)
    program = fill_template(
        "evolake.families.roles.templates.blind", reader=repr(reader), strategy=repr(strategy)
    )
    return BlindReply(reasoning="read the statement, then solve by this strategy", code=program)


BLIND_ROLE = Role(
    "families_blind_reviewer",
    BlindRequest,
    BlindReply,
    solve_blind,
    values=hide("reader", "strategy", "points"),
)
"""Solve an instance from its text, with a Python tool."""


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
