"""The sign of a remainder: a changed validator takes the other one."""

from __future__ import annotations

import ast
import copy
import re

from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    calling,
    compared,
    source_of,
)
from evolake.reading.json_text import whole_number

REMAINDER = "the sign of a remainder"
TRUNCATED = """
def _remainder_of_sign(a, b):
    return a % b if a >= 0 or a % b == 0 else a % b - b if b > 0 else a % b
"""


def remainders(view: FamilyView) -> Examiner:
    """Examine the sign of a remainder."""
    mention = view.matching(r"\bremainder|\bmodulo\b|\bmod\b|\bleft over when")
    truncated = view.matching(
        r"\bsign (?:of|as) the (?:dividend|(?:number|value|one) (?:that is |which is |"
        r"being )?divided|first)|\bas in (?:the language )?(?:C|Java)\b|"
        r"\b(?:remainder|it) (?:may be|can be|is) negative|\bdivision (?:rounds|"
        r"is rounded) towards? (?:zero|0)"
    )
    floored = view.matching(
        r"\bnever (?:be )?negative|\bnot negative|\bnon-?negative|\balways (?:at least|"
        r"between) (?:0|zero)|\bsign (?:of|as) the divisor|"
        r"\bat least 0 (?:and|but)|\bfrom 0 to\b.{0,20}(?:less|minus) (?:1|one)|\bas in Python"
    )
    if not mention:
        yield Wanted()
        return []
    tree = view.trees.get("primary")
    source = calling(tree, ast.Mod, "_remainder_of_sign", TRUNCATED) if tree is not None else None
    back = _with_fmod_floored(tree) if tree is not None else None
    sources = [item for item in (source, back) if item]
    given = yield Wanted((), sources)
    counts = dict(zip(sources, given.decided, strict=True))
    plain = re.compile(r"\bnegative\b|\bsign\b", re.IGNORECASE)
    if back and counts[back]:
        if floored and not truncated:
            return [
                ReadingPlace(
                    REMAINDER,
                    floored[0],
                    "never negative",
                    "the sign of the number divided",
                    "contradicted",
                    counts[back],
                    given.of,
                )
            ]
        return []
    if source and counts[source]:
        if truncated and not floored:
            return [
                ReadingPlace(
                    REMAINDER,
                    truncated[0],
                    "the sign of the number divided",
                    "never negative",
                    "contradicted",
                    counts[source],
                    given.of,
                )
            ]
        if not truncated and not floored and not plain.search(view.text):
            return [
                ReadingPlace(
                    REMAINDER, mention[0], "", "never negative", "ambiguous", counts[source], given.of
                )
            ]
        return [
            compared(
                REMAINDER,
                (floored or mention)[0],
                "never negative",
                "never negative",
                counts[source],
                given.of,
            )
        ]
    return []


def _named(word: str) -> ast.expr:
    """Return the name or the number that a word of a source is."""
    number = whole_number(word)
    return ast.Name(word, ast.Load()) if number is None else ast.Constant(number)


def _with_fmod_floored(tree: ast.Module) -> str | None:
    """Return the source with a % b for fmod(a, b), and for a - b * int(a / b); None if it has neither."""
    changed = False

    class _Flooring(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            nonlocal changed
            self.generic_visit(node)
            name = ast.unparse(node.func)
            if name in ("math.fmod", "fmod") and len(node.args) == 2:
                changed = True
                return ast.BinOp(node.args[0], ast.Mod(), node.args[1])
            return node

        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            nonlocal changed
            self.generic_visit(node)
            match = re.fullmatch(
                r"(\w+) - (?:(\w+) \* int\(\1 / (\w+)\)|int\(\1 / (\w+)\) \* (\w+))", ast.unparse(node)
            )
            if match and match[2] == match[3] and match[4] == match[5]:
                changed = True
                return ast.BinOp(_named(match[1]), ast.Mod(), _named(match[2] or match[4]))
            return node

        def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
            nonlocal changed
            self.generic_visit(node)
            text = ast.unparse(node)
            match = re.fullmatch(r"(\w+) % (\w+) if \1 >= 0 else -\(-\1 % \2\)", text)
            match = match or re.fullmatch(r"-\(-(\w+) % (\w+)\) if \1 < 0 else \1 % \2", text)
            if match:
                changed = True
                return ast.BinOp(_named(match[1]), ast.Mod(), _named(match[2]))
            return node

    new = _Flooring().visit(copy.deepcopy(tree))
    return source_of(new) if changed else None
