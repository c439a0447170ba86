"""The classical blind reviewer: a reader and a brute-force strategy, put into one program that sees nothing
but the statement.

Rules are taken from the text: for each mutation point the reviewer looks which alternative's sentence is in
the statement, and sets the strategy's constant to it. If none or two are there, the statement does not say
what the rule is, and the answer is N/A.
"""

from __future__ import annotations

import numpy as np

from evolake.agents.roles import Role, hide
from evolake.families.model.ast_transforms import NotComposable, set_constant
from evolake.families.model.statement import rules_in
from evolake.families.roles.models import BlindReply, BlindRequest
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
