"""Shorter versions of a program, most promising first: like terms collected and constants folded, statements
dropped, an operation replaced by one of its operands, numbers with fewer digits.

Nothing here knows whether a version is as good: `shortest` asks for each. Python is changed by its syntax
tree, and only where a change is, so that the rest stays as it was written. Of other languages only marked
numbers are shortened.
"""

from __future__ import annotations

import ast
import copy
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evolake.programs.model.program_text import END, START, BadBlocks, Places, Unreadable, cut, parse
from evolake.programs.search.numbers import Number, inside, numbers_in, with_brackets, with_numbers

Texts = Mapping[str, str]
Proposal = tuple[int, int, str]
"""From where to where in a text something else is written, and what."""
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.IfExp)
ATOMS = (ast.Name, ast.Call, ast.Subscript, ast.Attribute)
LARGEST = 1e12
DIGITS = 12
"""Significant digits of a folded number."""
MOST_DIGITS = 9
"""Significant digits up to which a number is shortened: operators write no more."""
MOST_SINGLE = 50
"""Numbers of a program up to which each is shortened alone: more are a value that was written out."""


def block_characters(texts: Texts) -> int:
    """Return the number of characters of the blocks."""
    return sum(len(block) for name, text in texts.items() for block in cut(text, name).blocks)


@dataclass(frozen=True)
class Shortest:
    """What `shortest` found. trials: versions that were asked about. complete: none is left to ask about."""

    texts: Texts
    trials: int
    complete: bool


def shortest(texts: Texts, holds: Callable[[Texts], bool], over: Callable[[], bool]) -> Shortest:
    """Return the shortest version that a greedy search finds.

    Args:
        holds: whether a version may be taken. over: whether no more is to be asked.
    """
    trials, known, changed = 0, {tuple(texts.values())}, True
    while changed:
        changed = False
        for versions in (collected, without_statements, without_operations, with_short_numbers):
            place, left = 0, True
            while left:
                left = False
                for version in islice(versions(texts), place, None):
                    place += 1
                    if tuple(version.values()) in known or not _is_shorter(version, texts):
                        continue
                    if over():
                        return Shortest(texts, trials, complete=False)
                    known.add(tuple(version.values()))
                    trials += 1
                    if holds(version):
                        # what follows in the list is now at about the same place in the new one
                        texts, changed, left, place = version, True, True, place - 1
                        break
    return Shortest(texts, trials, complete=True)


def _is_shorter(version: Texts, texts: Texts) -> bool:
    try:
        for name, text in version.items():
            if name.endswith(".py"):
                parse(text)
        return block_characters(version) < block_characters(texts)
    except (Unreadable, BadBlocks):
        return False


def _versions(
    texts: Texts, changes: Callable[[str, ast.Module, Places, Sequence[tuple[int, int]]], Iterator[Proposal]]
) -> Iterator[Texts]:
    """Yield the texts with each change of a Python file that is within its blocks."""
    for name, text in texts.items():
        if not name.endswith(".py"):
            continue
        try:
            tree, spans = parse(text), cut(text, name).spans()
        except (Unreadable, BadBlocks):
            continue
        for start, end, new in changes(text, tree, Places(text), spans):
            if inside(start, end, spans):
                yield {**texts, name: text[:start] + new + text[end:]}


def collected(texts: Texts) -> Iterator[Texts]:
    """Yield versions in which the like terms of a sum are one, and constants are folded."""

    def changes(text: str, tree: ast.Module, places: Places, _: object) -> Iterator[Proposal]:
        for root in _roots(tree):
            new = _sum_of(root)
            if new is not None:
                yield _in_place(text, places, root, new)

    return _versions(texts, changes)


def without_statements(texts: Texts) -> Iterator[Texts]:
    """Yield versions without a statement, the longest first, or with the body of an `if` alone."""

    def changes(
        text: str, tree: ast.Module, places: Places, spans: Sequence[tuple[int, int]]
    ) -> Iterator[Proposal]:
        found: list[Proposal] = []
        for node in ast.walk(tree):
            for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
                if not isinstance(body, list):
                    continue
                for item in body:
                    whole = _own_lines(text, places, item)
                    if whole is None:
                        continue
                    if len(body) > 1 and not _is_docstring(item, body):
                        found.append((*whole, ""))
                    if isinstance(item, ast.If):
                        found += _unwrapped(text, places, item, whole)
        yield from sorted(found, key=lambda item: item[0] - item[1] + len(item[2]))

    return _versions(texts, changes)


def without_operations(texts: Texts) -> Iterator[Texts]:
    """Yield versions with an operand in place of an operation, or an argument in place of a call, the largest
    first."""

    def changes(text: str, tree: ast.Module, places: Places, _: object) -> Iterator[Proposal]:
        found: list[Proposal] = []
        for root in _roots(tree):
            for number, node in enumerate(ast.walk(root)):
                for choice in range(len(_operands(node))):
                    made = copy.deepcopy(root)
                    twin = next(item for place, item in enumerate(ast.walk(made)) if place == number)
                    new = _replaced(made, twin, _operands(twin)[choice])
                    found.append(_in_place(text, places, root, new))
        yield from sorted(found, key=lambda item: item[0] - item[1] + len(item[2]))

    return _versions(texts, changes)


def with_short_numbers(texts: Texts) -> Iterator[Texts]:
    """Yield versions whose numbers have fewer digits: all of them, then each, the fewest digits first."""
    try:
        numbers = [number for number in numbers_in(texts) if not number.whole]
    except (Unreadable, BadBlocks, ValueError):
        return
    for digits in (2, 3, 4, 6, MOST_DIGITS):
        yield with_numbers(texts, [(number, _rounded(number, digits)) for number in numbers])
    for number in (
        [] if len(numbers) > MOST_SINGLE else sorted(numbers, key=lambda item: item.start - item.end)
    ):
        for digits in range(1, min(MOST_DIGITS, number.end - number.start - 1) + 1):
            if (value := _rounded(number, digits)) == number.value:
                break
            yield with_numbers(texts, [(number, value)])


def _rounded(number: Number, digits: int) -> float:
    value = float(f"{number.value:.{digits}g}")
    return value if len(number.written(value)) < number.end - number.start else number.value


def _roots(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the operations, and calls, that are no operand of another operation."""
    below = {
        child
        for node in ast.walk(tree)
        if isinstance(node, OPERATIONS)
        for child in ast.iter_child_nodes(node)
    }
    # Python before 3.12 does not know where in the text the parts of an f-string are.
    below |= {child for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for child in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, (*OPERATIONS, ast.Call)) and node not in below and not _is_constant(node):
            yield node


def _is_constant(node: ast.AST) -> bool:
    """Return whether a node is a number with its sign, which has no simpler form."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp) and not _is_constant(node):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Call):
        return [item for item in node.args[:2] if not isinstance(item, ast.Starred | ast.GeneratorExp)]
    return []


def _replaced(root: ast.expr, old: ast.AST, new: ast.expr) -> ast.expr:
    """Return the expression with another in the place of a part of it. Changes it."""
    if old is root:
        return new
    for node in ast.walk(root):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
            elif isinstance(value, list) and old in value:
                value[value.index(old)] = new
    return root


def _in_place(text: str, places: Places, old: ast.expr, new: ast.expr) -> Proposal:
    """Return a new expression in the place of an old one, without brackets that nothing needs any more."""
    start, end = places.span(old)
    written = ast.unparse(new)
    if isinstance(new, ATOMS):
        start, end = with_brackets(text, start, end)
    elif not isinstance(old, OPERATIONS):
        written = f"({written})"
    return start, end, written


def _own_lines(text: str, places: Places, node: ast.stmt) -> tuple[int, int] | None:
    """From where to where the lines of a statement reach, those of comments right above it included; None if
    other code is on them."""
    first = min((item.lineno for item in getattr(node, "decorator_list", ())), default=node.lineno)
    start, end = places.lines(first, node.end_lineno or node.lineno)
    before, after = text[start : places.at(first, 0) + node.col_offset], text[places.span(node)[1] : end]
    if before.strip() or (after.strip() and not after.lstrip().startswith("#")):
        return None
    while first > 1 and _is_comment(text[slice(*places.lines(first - 1, first - 1))]):
        first -= 1
    return places.lines(first, first)[0], end


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#") and START not in line and END not in line


def _is_docstring(node: ast.stmt, body: Sequence[ast.stmt]) -> bool:
    return (
        node is body[0]
        and isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _unwrapped(text: str, places: Places, node: ast.If, whole: tuple[int, int]) -> Iterator[Proposal]:
    """Yield the bodies of an `if` in its place."""
    for body in (node.body, node.orelse):
        if not body or body[0].lineno == node.lineno:
            continue
        start, end = places.lines(body[0].lineno, body[-1].end_lineno or body[-1].lineno)
        lines = textwrap.indent(textwrap.dedent(text[start:end]), " " * node.col_offset)
        yield (*whole, lines)


def _sum_of(root: ast.expr) -> ast.expr | None:
    """Return a sum with each term once, and numbers folded; None if it has none twice."""
    terms: dict[str, tuple[float, ast.expr | None]] = {}
    try:
        count = sum(1 for _ in _terms(root, 1, terms))
    except (OverflowError, ZeroDivisionError):
        return None
    result: ast.expr | None = None
    if count == len(terms) and not any(_foldable(node) for node in ast.walk(root)):
        return None
    for factor, term in terms.values():
        if not factor or not math.isfinite(factor):
            if not math.isfinite(factor):
                return None
            continue
        size, sign = abs(factor), factor < 0
        number = ast.Constant(size if isinstance(size, int) else float(f"{size:.{DIGITS}g}"))
        if term is None:
            made: ast.expr = number
        else:
            made = term if size == 1 else ast.BinOp(number, ast.Mult(), term)
        if result is None:
            result = ast.UnaryOp(ast.USub(), made) if sign else made
        else:
            result = ast.BinOp(result, ast.Sub() if sign else ast.Add(), made)
    return ast.fix_missing_locations(result or ast.Constant(0.0))


def _terms(node: ast.expr, factor: float, terms: dict[str, tuple[float, ast.expr | None]]) -> Iterator[None]:
    """Add the terms of a sum to `terms`: text -> what it is multiplied by, and the term; "" for numbers.
    Yields for each."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _terms(node.left, factor, terms)
        yield from _terms(node.right, factor if isinstance(node.op, ast.Add) else -factor, terms)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        yield from _terms(node.operand, -factor if isinstance(node.op, ast.USub) else factor, terms)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _number(node.left) is not None:
        yield from _terms(node.right, factor * (_number(node.left) or 0), terms)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _number(node.right) is not None:
        yield from _terms(node.left, factor * (_number(node.right) or 0), terms)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _number(node.right):
        yield from _terms(node.left, factor / (_number(node.right) or 1), terms)
    else:
        number = _number(node)
        text = ast.unparse(node) if number is None else ""
        before = terms.get(text, (0, None))[0]
        terms[text] = (
            before + factor * (1 if number is None else number),
            None if number is not None else node,
        )
        yield


def _number(node: ast.expr) -> float | None:
    """Return the value of a literal number of a usual size; None for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return value


def _foldable(node: ast.AST) -> bool:
    """Return whether an operation is one with a number that a sum of terms has no need of: 0.0 - x, 1 * x,
    2 * 3."""
    if not isinstance(node, ast.BinOp):
        return False
    numbers = [value for side in (node.left, node.right) if (value := _number(side)) is not None]
    return len(numbers) == 2 or any(value in (0, 1) for value in numbers)
