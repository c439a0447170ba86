"""The middle of an even number of values: a changed validator takes the other of the two."""

from __future__ import annotations

import ast
import copy
import re

from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted, called_names, source_of

LOWER, HIGHER, MEAN = "the lower of the two", "the higher of the two", "their mean"
MIDDLE_WORDS = (
    (LOWER, "smaller|lower|lesser|worse|lighter|shorter|left|earlier|smallest|lowest"),
    (HIGHER, "larger|higher|greater|better|upper|bigger|heavier|taller|right|later"),
)


def medians(view: FamilyView) -> Examiner:
    """Examine which of two middle values is the median."""
    mention = view.matching(r"\bmedian|\bmiddle\b|\btwo (?:in the )?middle")
    if not mention:
        yield Wanted()
        return []
    text = " ".join(mention)
    two = (
        r"(?:one |value |number |element )?(?:of (?:the |these |those )?(?:two|both|middle)|middle|median)\b"
    )
    says = {
        name
        for name, words in MIDDLE_WORDS
        if re.search(rf"\b(?:{words}) {two}", text, re.IGNORECASE)
        or re.search(
            rf"\btwo\b[^.;]*\b(?:the|is its|"
            rf"take) (?:{words})\b",
            text,
            re.IGNORECASE,
        )
    } | (
        {MEAN}
        if re.search(r"\b(?:mean|average|half (?:of )?(?:the|their) sum|half ?way)\b", text, re.IGNORECASE)
        else set()
    )
    held = {name: _median_held(tree) for name, tree in view.trees.items()}
    tree = view.trees.get("primary")
    source = _median_changed(tree) if tree is not None else None
    given = yield Wanted((), [source] if source else [])
    decides, total = (given.decided[0], given.of) if source else (0, 0)
    does = set().union(*held.values())
    if len(does) != 1:
        return []
    if len(says) == 1:
        verdict = "fixed" if says == does else "contradicted"
        return [
            ReadingPlace(
                "the middle of an even number",
                mention[0],
                says.pop(),
                next(iter(does)),
                verdict,
                decides,
                total,
            )
        ]
    if not says and decides:
        return [
            ReadingPlace(
                "the lower or the higher of two middle values",
                mention[0],
                "",
                next(iter(does)),
                "ambiguous",
                decides,
                total,
            )
        ]
    return []


def _median_held(tree: ast.Module) -> set[str]:
    names = called_names(tree)
    result = {
        side
        for name, side in (("median_low", LOWER), ("median_high", HIGHER), ("median", MEAN))
        if name in names
    }
    lower = higher = False
    for node in ast.walk(tree):
        index = node.slice if isinstance(node, ast.Subscript) else None
        if (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.FloorDiv)
            and ast.unparse(index.right) == "2"
        ):
            less = (
                isinstance(index.left, ast.BinOp)
                and isinstance(index.left.op, ast.Sub)
                and ast.unparse(index.left.right) == "1"
            )
            lower, higher = lower or less, higher or not less
        elif (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.Sub)
            and ast.unparse(index.right) == "1"
            and "// 2" in ast.unparse(index.left)
        ):
            lower = True
    if lower and higher:
        kinds = {MEAN}
    elif lower:
        kinds = {LOWER}
    elif higher:
        kinds = {HIGHER}
    else:
        kinds = set()
    return result | kinds


def _median_changed(tree: ast.Module) -> str | None:
    tree, changed = copy.deepcopy(tree), False
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            key = "attr" if isinstance(node, ast.Attribute) else "id"
            other = {"median_low": "median_high", "median_high": "median_low"}.get(getattr(node, key))
            if other:
                setattr(node, key, other)
                changed = True
        index = node.slice if isinstance(node, ast.Subscript) else None
        halved = (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.FloorDiv)
            and ast.unparse(index.right) == "2"
        )
        if halved and isinstance(index, ast.BinOp):
            changed = True
            less = (
                isinstance(index.left, ast.BinOp)
                and isinstance(index.left.op, ast.Sub)
                and ast.unparse(index.left.right) == "1"
            )
            index.left = (
                index.left.left
                if less and isinstance(index.left, ast.BinOp)
                else ast.BinOp(index.left, ast.Sub(), ast.Constant(1))
            )
    return source_of(tree) if changed else None
