"""The base of numerals that a word names."""

from __future__ import annotations

import ast
import re

from evolake.families.readings.view import Examiner, FamilyView, Wanted, compared

NUMERALS = {"binary": 2, "octal": 8, "hexadecimal": 16, "ternary": 3}


def numerals(view: FamilyView) -> Examiner:
    """Examine whether a base that a word names is in the programs."""
    yield Wanted()
    said = {
        value
        for word, value in NUMERALS.items()
        if re.search(rf"\b{word}\b(?! (?:tree|search))", view.text, re.IGNORECASE)
    }
    if len(said) != 1:
        return []
    base = said.pop()
    signs = {2: ("bin", "bit_count", "b}"), 8: ("oct", "o}"), 16: ("hex", "x}", "X}"), 3: ()}[base]
    for name, tree in view.trees.items():
        text = ast.unparse(tree)
        numbers = {item.value for item in ast.walk(tree) if isinstance(item, ast.Constant)}
        lengths = {
            len(item.value)
            for item in ast.walk(tree)
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        }
        bits = base == 2 and any(
            isinstance(item, ast.BitAnd | ast.RShift | ast.LShift) for item in ast.walk(tree)
        )
        if not (
            base in numbers
            or base in lengths
            or bits
            or any(sign in text for sign in signs)
            or str(base) in map(str, numbers)
        ):
            sentence = next(iter(view.matching(r"\b(?:binary|octal|hexadecimal|ternary)\b")))
            return [
                compared("the base of numerals", sentence, str(base), f"another base in the program {name}")
            ]
    return []
