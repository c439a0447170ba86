"""The classical blind reviewer: a reader and a brute-force strategy, put into one program that sees nothing but the statement.

Rules are taken from the text: for each mutation point the reviewer looks which alternative's sentence stands in the statement, and sets the
strategy's constant to it. Where none or two stand there, the statement does not say what the rule is, and the answer is N/A.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evolake.families.parts import NotComposable, set_constant
from evolake.families.role_models import BlindReply, BlindRequest

UNKNOWN = r"\boxed{N/A}"
PROGRAM = '''import json

reader, strategy = {{}}, {{}}
exec({reader!r}, reader)
exec({strategy!r}, strategy)
inputs = json.loads(json.dumps(reader["read"](TEXT)))
answer = strategy["solution"](inputs)
if isinstance(answer, dict) and answer.get("status") == "schema_error":
    answer = "N/A"
print("\\\\boxed{{" + (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)) + "}}")
'''


def solve_blind(request: BlindRequest, random: np.random.Generator) -> BlindReply:
    """First the program; then what it printed, or N/A where it failed."""
    if request.transcript:
        printed = request.transcript[-1].output.strip()
        return BlindReply(reasoning="what the program printed", final=printed if "\\boxed" in printed else UNKNOWN)
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
    return BlindReply(reasoning="read the statement, then solve by this strategy", code=PROGRAM.format(reader=reader, strategy=strategy))


def rules_in(statement: str, points: Sequence[dict[str, Any]]) -> dict[str, str] | str:
    """Constant -> expression as the statement says, or why it does not say. points: {"constant", "alternatives": [[text, expression]]}, in order of
    the text. Points with the same alternatives (a family that occurs twice in a child) take the sentences in their order.
    """
    flat = " ".join(statement.split())
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for point in points:
        groups.setdefault(tuple(sorted(" ".join(text.split()) for text, _ in point["alternatives"])), []).append(point)
    found: dict[str, str] = {}
    for texts, members in groups.items():
        said = _occurrences(flat, texts)
        names = ", ".join(point["constant"] for point in members)
        if not said:
            return f"the statement does not say the rule {names}"
        if len(members) == 1 and len(set(said)) > 1:
            return f"the statement says two rules for {names}"
        if len(members) > 1 and len(set(said)) > 1 and len(said) != len(members):
            return f"the statement does not say which rule is meant where: {names}"
        for number, point in enumerate(members):
            spoken = said[number] if len(said) == len(members) else said[0]
            found[point["constant"]] = next(code for text, code in point["alternatives"] if " ".join(text.split()) == spoken)
    return found


def _occurrences(flat: str, texts: Sequence[str]) -> list[str]:
    """The alternatives that stand in the text, by position; where one contains another, the longer one."""
    found: list[tuple[int, int, str]] = []
    for text in sorted(texts, key=len, reverse=True):
        at = flat.find(text) if text else -1
        while at != -1:
            if not any(start <= at and at + len(text) <= end for start, end, _ in found):
                found.append((at, at + len(text), text))
            at = flat.find(text, at + 1)
    return [text for _, _, text in sorted(found)]
