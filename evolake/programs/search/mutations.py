"""Typed changes of a Python program's syntax tree, written back into its text where the node was, so that
everything else stays as it was written.

Each takes (text of one file, spans of its blocks, random) and gives the new text, or None if there is nothing
of its kind.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from evolake.programs.model.program_text import Places, parse
from evolake.programs.search.numbers import inside
from evolake.text_edits import end_of, usual_end, with_ends

Spans = Sequence[tuple[int, int]]
Mutation = Callable[[str, Spans, np.random.Generator], str | None]

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
UPDATES = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def comparison(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return another comparison operator, or `and` for `or`."""

    def swapped(node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.BoolOp):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            return node
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], COMPARISONS):
            others = [kind for kind in COMPARISONS if not isinstance(node.ops[0], kind)]
            node.ops[0] = others[int(random.integers(len(others)))]()
            return node
        return None

    return changed(text, spans, random, (ast.Compare, ast.BoolOp), swapped)


def operator(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return another arithmetic operator, its operands the other way round, or one of them alone."""

    def swapped(node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.BinOp):
            return None
        way = int(random.integers(4))
        if way == 0:
            node.left, node.right = node.right, node.left
        elif way == 1:
            return node.left if random.random() < 0.5 else node.right
        else:
            others = [kind for kind in ARITHMETIC if not isinstance(node.op, kind)]
            node.op = others[int(random.integers(len(others)))]()
        return node

    return changed(text, spans, random, (ast.BinOp,), swapped)


def scaled(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return an expression that is assigned or returned, times or plus a new number: what the numbers that
    are there cannot say."""
    places, result = Places(text), []
    for node in ast.walk(parse(text)):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.Return) and isinstance(
            value, ast.BinOp | ast.Call | ast.Name | ast.Subscript
        ):
            result.append(value)
    node = drawn([item for item in result if inside(*places.span(item), spans)], random)
    if node is None:
        return None
    factor = ast.Constant(round(float(np.exp(random.normal() * 0.2)), 4))
    added = ast.Constant(round(float(random.normal()), 4))
    made = ast.BinOp(node, ast.Mult(), factor) if random.random() < 0.7 else ast.BinOp(node, ast.Add(), added)
    return spliced(text, places.span(node), ast.unparse(ast.fix_missing_locations(made)))


def argument(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return two arguments of a call exchanged, or one that is a number or a name taken from another place of
    the same program."""

    def moved(node: ast.expr) -> ast.expr | None:
        if (
            not isinstance(node, ast.Call)
            or not node.args
            or any(isinstance(arg, ast.Starred) for arg in node.args)
        ):
            return None
        if len(node.args) > 1 and random.random() < 0.5:
            first, other = random.choice(len(node.args), 2, replace=False)
            node.args[first], node.args[other] = node.args[other], node.args[first]
            return node
        place = int(random.integers(len(node.args)))
        kind = ast.Constant(round(float(np.exp(random.normal() * 0.3)), 4))
        node.args[place] = ast.BinOp(node.args[place], ast.Mult(), kind)
        return node

    return changed(text, spans, random, (ast.Call,), moved)


def loop_bound(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a loop over `range` that runs longer or shorter."""

    def stretched(node: ast.expr) -> ast.expr | None:
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "range"
            and node.args
        ):
            return None
        place = min(1, len(node.args) - 1)
        bound = node.args[place]
        if isinstance(bound, ast.Constant) and isinstance(bound.value, int):
            node.args[place] = ast.Constant(
                max(
                    0,
                    round(bound.value * float(random.choice([0.5, 0.8, 1.25, 2, 3])))
                    + int(random.integers(-1, 2)),
                )
            )
        else:
            made: list[tuple[type[ast.operator], int]] = [
                (ast.Mult, 2),
                (ast.Add, 1),
                (ast.Sub, 1),
                (ast.FloorDiv, 2),
            ]
            kind, value = made[int(random.integers(len(made)))]
            node.args[place] = ast.BinOp(bound, kind(), ast.Constant(value))
        return node

    return changed(text, spans, random, (ast.Call,), stretched)


def statement_order(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return two neighbouring statements exchanged, one left out, or one done twice."""
    places = Places(text)
    bodies = [
        body
        for node in ast.walk(parse(text))
        for name in ("body", "orelse")
        if isinstance(body := getattr(node, name, None), list)
    ]
    pairs = [
        (item, other)
        for body in bodies
        for item, other in pairwise(body)
        if whole_lines(text, places, item)
        and whole_lines(text, places, other)
        and inside(places.span(item)[0], places.span(other)[1], spans)
        and item.end_lineno < other.lineno
    ]
    if not pairs:
        return None
    pair, other = pairs[int(random.integers(len(pairs)))]
    (start, end), (begin, stop) = (
        places.lines(pair.lineno, pair.end_lineno),
        places.lines(other.lineno, other.end_lineno),
    )
    first, second = text[start:end], text[begin:stop]
    way = float(random.random())
    if way < 0.5 or not isinstance(pair, SIMPLE):
        if not end_of(second):  # the last line of the file
            second, first = second + end_of(first), first.removesuffix(end_of(first))
        return text[:start] + second + text[end:begin] + first + text[stop:]
    return text[:start] + text[end:] if way < 0.75 else text[:end] + first + text[end:]


MUTATIONS: dict[str, Mutation] = {
    "comparison": comparison,
    "operator": operator,
    "scaled": scaled,
    "argument": argument,
    "loop_bound": loop_bound,
    "statement_order": statement_order,
}
"""Name, as derivations have it -> mutation."""


def changed(
    text: str,
    spans: Spans,
    random: np.random.Generator,
    kinds: tuple[type[ast.expr], ...],
    change: Callable[[ast.expr], ast.expr | None],
) -> str | None:
    """Return the text with one node of `kinds` within the blocks changed. change: gets a copy of the node,
    and gives what is in its place or None.
    """
    places = Places(text)
    nodes = [
        node
        for node in ast.walk(parse(text))
        if isinstance(node, kinds) and inside(*places.span(node), spans)
    ]
    for place in random.permutation(len(nodes)).tolist() if nodes else ():
        made = change(copy.deepcopy(nodes[place]))
        if made is not None:
            written = ast.unparse(ast.fix_missing_locations(made))
            return spliced(
                text,
                places.span(nodes[place]),
                written if isinstance(made, ast.Call | ast.Name | ast.Constant) else f"({written})",
            )
    return None


def spliced(text: str, span: tuple[int, int], written: str) -> str:
    """Return the text with a piece of it written again, with the text's line ends if it has some (an f-string
    of several lines)."""
    if "\n" in written:
        written = with_ends(written, usual_end(text))
    return text[: span[0]] + written + text[span[1] :]


def drawn(nodes: Sequence[ast.expr], random: np.random.Generator) -> ast.expr | None:
    """Return one of them; None of none."""
    return nodes[int(random.integers(len(nodes)))] if nodes else None


def whole_lines(text: str, places: Places, node: ast.stmt) -> bool:
    """Return whether a statement has its lines for itself, so that lines can be moved in its place; a
    decorator is no part of a statement's lines."""
    if getattr(node, "decorator_list", None):
        return False
    start, end = places.span(node)
    before, after = (
        text[places.lines(node.lineno, node.lineno)[0] : start],
        text[end : places.lines(node.lineno, node.end_lineno or node.lineno)[1]],
    )
    return not before.strip() and (not after.strip() or after.strip().startswith("#"))
