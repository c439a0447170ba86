"""What is counted: every k-th from where on, ordered pairs or not, and those that are not something."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from evolake.families.readings.view import (
    Examiner,
    FamilyView,
    ReadingPlace,
    Wanted,
    at,
    called_names,
    changed,
    compared,
)

COMPLEMENTS = (
    ast.Mod,
    ast.Not,
    ast.NotIn,
    ast.NotEq,
    ast.IsNot,
    ast.Sub,
    ast.Eq,
    ast.Lt,
    ast.Gt,
    ast.LtE,
    ast.GtE,
    ast.BitXor,
    ast.Invert,
    ast.IfExp,
    ast.Continue,
    ast.Delete,
)
REMOVING = frozenset(
    ["difference", "discard", "remove", "pop", "difference_update", "symmetric_difference", "get", "find"]
)


def negation(view: FamilyView) -> Examiner:
    """Examine whether a question for those that are not something is answered by a program that can say no at
    all."""
    yield Wanted()
    asks = re.search(
        r"\b(?:how many|which|what is the number|count|what is the sum)\b[^?]*\b(?:do|does|did|is|are|"
        r"was|were|has|have|can|will)(?: not|n't)\b|"
        r"\b(?:how many|which|count|number of)\b[^?]*\b(?:never|nobody|without|none|no longer)\b",
        view.question,
        re.IGNORECASE,
    )
    if not asks:
        return []
    unable = [name for name, tree in view.trees.items() if not _can_deny(tree)]
    if not unable:
        return [ReadingPlace("a negation", view.question, "not", "not", "fixed")]
    return [
        ReadingPlace(
            "a negation",
            view.question,
            "not",
            f"nothing is denied in the program {unable[0]}",
            "contradicted",
        )
    ]


def _can_deny(tree: ast.Module) -> bool:
    """Return whether a source has any means to count what is not so. Checks of the form of the inputs are
    left out."""
    for statement in [
        item for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for item in node.body
    ]:
        if isinstance(statement, ast.If) and "schema_error" in ast.unparse(statement):
            continue
        for node in ast.walk(statement):
            if isinstance(node, COMPLEMENTS) or (isinstance(node, ast.If) and node.orelse):
                return True
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in REMOVING
            ):
                return True
            if (
                isinstance(node, ast.Constant)
                and node.value in (0, False)
                and isinstance(node.value, bool | int)
                and node.value is not True
            ):
                return True
    return False


def steps(view: FamilyView) -> Examiner:
    """Examine where "every k-th" begins: slices that take every k-th from the first one, or from the k-th."""
    yield Wanted()
    stated = view.matching(r"\bevery (?:#\d+|second|third|fourth|fifth|\w+th)\b")
    if not stated:
        return []
    first = view.matching(
        r"\b(?:start|begin)\w* (?:with|at|from) the (?:very )?first\b|\bthe (?:very )?first (?:\w+ "
        r"){0,4}(?:included|counts|is (?:taken|one of|the first|among|read|also)|belongs)"
    )
    later = view.matching(
        r"\b(?:start|begin)\w* (?:with|at|from) the (?:#\d+(?:th|nd|rd)?|second|third|fourth|"
        r"\w+th)\b"
    )
    found = {way for tree in view.trees.values() for way in _begins(tree)}
    if len(found) != 1 or (bool(first) and bool(later)):
        return []
    does = found.pop()
    if first:
        says = "the first"
    elif later:
        says = "the k-th"
    else:
        says = ""
    if says:
        return [compared("where every k-th begins", (first or later)[0], says, does)]
    if does == "the first":
        return [compared("where every k-th begins", stated[0], "the k-th", does)]
    return []


def _begins(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Slice)
            and node.step is not None
            and not ast.unparse(node.step).startswith("-")
        ):
            lower = ast.unparse(node.lower) if node.lower else "0"
            step = ast.unparse(node.step)
            less = (
                isinstance(node.step, ast.Constant)
                and type(node.step.value) is int
                and lower == str(node.step.value - 1)
            )
            if lower == "0":
                yield "the first"
            elif lower == f"{step} - 1" or less:
                yield "the k-th"


def pairs(view: FamilyView) -> Examiner:
    """Examine whether a pair and the same pair the other way round are one."""
    lists = view.lists()
    probes = (
        [
            changed(
                view.instances[place].inputs,
                lists[0],
                at(view.instances[place].inputs, lists[0])[start : start + 2],
            )
            for place in view.few
            for start in (0, 1, 2)
        ]
        if len(lists) == 1 and re.search(r"\bpairs?\b", view.text, re.IGNORECASE)
        else []
    )
    given = yield Wanted(probes)
    counts = [
        solved.answer for solved in given.answers if solved.status == "ok" and type(solved.answer) is int
    ]
    ordered = view.matching(
        r"\bordered pairs?|\border (?:of the two )?matters|\bcount as (?:two|different) pairs"
    )
    unordered = view.matching(
        r"\bunordered pairs?|\border (?:\w+ ){0,3}(?:does not|doesn't) matter|"
        r"\bcount as one pair|\bcounts? (?:as )?(?:only )?once\b.*\bpair|"
        r"\bpair\b.*\bcounted (?:only )?once|"
        r"\b([A-Z]\w*) (?:with|and) ([A-Z]\w*) (?:is|are|makes?) (?:no other|the same|one)\b"
    )
    if bool(ordered) == bool(unordered):
        return []
    found = {way for tree in view.trees.values() for way in _paired(tree)}
    if set(counts) in ({0, 2}, {0, 1}) and min(counts.count(0), len(counts) - counts.count(0)) >= 3:
        found = {"ordered" if 2 in counts else "unordered"}
    says = "ordered" if ordered else "unordered"
    if len(found) != 1:
        return []
    does = found.pop()
    return [compared("whether pairs are ordered", (ordered or unordered)[0], says, does)]


def _paired(tree: ast.Module) -> Iterator[str]:
    names = called_names(tree)
    if "combinations" in names:
        yield "unordered"
    if "permutations" in names:
        yield "ordered"
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "range"
            and len(node.args) == 2
            and ast.unparse(node.args[0]).endswith("+ 1")
        ):
            yield "unordered"
        if (
            isinstance(node, ast.Slice)
            and node.lower is not None
            and node.upper is None
            and re.fullmatch(r"\w+ \+ 1", ast.unparse(node.lower))
        ):
            yield "unordered"
