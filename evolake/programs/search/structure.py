"""Typed changes of a Python program's structure, written back into its text where the node was, so that
everything else stays as it was written.

Each takes (text of one file, spans of its blocks, random) and gives the new text, or None if there is nothing
of its kind.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from types import UnionType

import numpy as np

from evolake.programs.model.program_text import Places, parse
from evolake.programs.search.numbers import inside
from evolake.text_edits import usual_end, with_ends

Spans = Sequence[tuple[int, int]]
Mutation = Callable[[str, Spans, np.random.Generator], str | None]
Function = ast.FunctionDef | ast.AsyncFunctionDef

COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
ORDERING = ("sorted", "sort", "min", "max")
"""Functions whose `key` says what comes first."""
TIMES = (2, 3, 5, 10, 20, 50)
SHAPES = (
    "abs({0})",
    "({0}) ** 2",
    "({0}) ** 0.5",
    "1 / ({0})",
    "max({0}, 0.0)",
    "min({0}, 1.0)",
    "-({0})",
    "int({0})",
)
LIBRARY_SHAPES = (
    "{1}.sqrt(abs({0}))",
    "{1}.exp(-abs({0}))",
    "{1}.log1p(abs({0}))",
    "{1}.sin({0})",
    "{1}.tanh({0})",
)
LIBRARIES = ("math", "np", "numpy")
QUOTED = re.compile("[\"'`]([A-Za-z_]\\w*)[\"'`]")
ALTERNATIVES = 0.8
"""Share of strings that are replaced by one which stands for the same choice, if there are such."""
LONGEST = 40
"""Characters of a string that another one may be replaced by."""


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


def flip(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return what is returned, assigned or sorted by with the other sign, or a call that sorts the other way
    round."""
    places, tree = Places(text), parse(text)
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) in ORDERING
        ):
            found += [
                key.value.body
                for key in node.keywords
                if key.arg == "key" and isinstance(key.value, ast.Lambda)
            ] * 3
            found += [node] if _sorts(node) else []
        elif isinstance(node, ast.Assign | ast.Return) and isinstance(
            node.value, ast.BinOp | ast.UnaryOp | ast.Call | ast.Name | ast.Subscript
        ):
            found.append(node.value)
    node = drawn([item for item in found if inside(*places.span(item), spans)], random)
    if node is None:
        return None
    if isinstance(node, ast.Call) and _sorts(node):
        return spliced(text, places.span(node), ast.unparse(_reversed(copy.deepcopy(node))))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return spliced(text, places.span(node), f"({ast.unparse(node.operand)})")
    return spliced(text, places.span(node), f"-({ast.unparse(node)})")


def _sorts(node: ast.Call) -> bool:
    return getattr(node.func, "id", getattr(node.func, "attr", "")) in ORDERING[:2]


def _reversed(node: ast.Call) -> ast.Call:
    others = [item for item in node.keywords if item.arg != "reverse"]
    given = [item.value for item in node.keywords if item.arg == "reverse"]
    value = ast.UnaryOp(ast.Not(), given[0]) if given else ast.Constant(True)
    if given and isinstance(given[0], ast.Constant):
        value = ast.Constant(not given[0].value)
    node.keywords = [*others, ast.keyword("reverse", value)]
    return ast.fix_missing_locations(node)


def term(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a name of the same function joined to an expression: added with a small factor, multiplied,
    divided by, subtracted."""
    place = _drawn_in_function(text, spans, random, ast.BinOp | ast.Name | ast.Constant | ast.Call)
    if place is None:
        return None
    node, function = place
    names = values_in(function)
    if not names:
        return None
    name = names[int(random.integers(len(names)))]
    written, way = ast.unparse(node), int(random.integers(7))
    factor = repr(float(f"{random.normal() * 0.3:.3g}"))
    other = names[int(random.integers(len(names)))]
    made = (
        f"({written} * {name})",
        f"({written} / {name})",
        f"({written} + {name})",
        f"({written} - {name})",
        f"({written} + {factor} * {name})",
        f"({written} + {factor} * {name} * {other})",
        f"({written} + {factor})",
    )[way]
    return spliced(text, Places(text).span(node), made)


def shape(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a function around an expression: of Python, or of a library of mathematics that the program
    imports."""
    place = _drawn_in_function(text, spans, random, ast.BinOp | ast.Name | ast.Call)
    if place is None:
        return None
    imported = [
        alias.asname or alias.name
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    library = next((name for name in imported if name in LIBRARIES), None)
    shapes = SHAPES + (LIBRARY_SHAPES if library else ())
    made = shapes[int(random.integers(len(shapes)))].format(ast.unparse(place[0]), library)
    return spliced(text, Places(text).span(place[0]), f"({made})")


def repeat(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return a loop around one to three neighbouring statements, at least one of which reads what they
    assign."""
    places, found = Places(text), []
    for body in bodies(parse(text)):
        for first in range(len(body)):
            for last in range(first, min(first + 3, len(body))):
                run = body[first : last + 1]
                if (
                    repeatable(run)
                    and all(whole_lines(text, places, item) for item in run)
                    and _in_blocks(places, run, spans)
                ):
                    found.append(run)
    if not found:
        return None
    run = found[int(random.integers(len(found)))]
    start, end = places.lines(run[0].lineno, run[-1].end_lineno or run[-1].lineno)
    indent = " " * run[0].col_offset
    lines = text[start:end].splitlines(keepends=True)
    head = f"{indent}for _ in range({TIMES[int(random.integers(len(TIMES)))]}):{usual_end(text)}"
    return (
        text[:start] + head + "".join(f"    {line}" if line.strip() else line for line in lines) + text[end:]
    )


def repeatable(run: Sequence[ast.stmt]) -> bool:
    """Return whether doing statements again may change the result: they read what they assign, and none of
    them leaves a loop or function."""
    stored, read = set[str](), set[str]()
    for statement in run:
        for node in ast.walk(statement):
            if isinstance(
                node,
                ast.Return
                | ast.Break
                | ast.Continue
                | ast.Import
                | ast.ImportFrom
                | ast.FunctionDef
                | ast.ClassDef,
            ):
                return False
            if isinstance(node, ast.Name):
                (stored if isinstance(node.ctx, ast.Store) else read).add(node.id)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                read.add(node.target.id)
    return bool(stored & read)


def string(text: str, spans: Spans, random: np.random.Generator) -> str | None:
    """Return one or two strings replaced by others that the program has or names in its comments and
    docstrings; a truth value by the other one."""
    tree, places = parse(text), Places(text)
    nodes = list(ast.walk(tree))
    found = [
        node
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str | bool)
        and inside(*places.span(node), spans)
    ]
    if not found:
        return None
    groups = alternatives_in(tree)
    left_out = {places_of(node.value) for node in nodes if isinstance(node, ast.Expr)}
    left_out |= {places_of(node) for group in groups for node in group}
    left_out |= {
        places_of(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    }
    found = [node for node in found if places_of(node) not in left_out]
    chosen = random.permutation(len(found))[: int(random.integers(1, 3))].tolist()
    made = text
    for node in sorted((found[place] for place in chosen), key=lambda item: -places.span(item)[0]):
        peers = sorted(
            {
                str(item.value)
                for group in groups
                if node.value in [one.value for one in group]
                for item in group
            }
            - {str(node.value)}
        )
        others = (
            peers
            if peers and random.random() < ALTERNATIVES
            else [item for item in strings_in(tree, text) if item != node.value]
        )
        if isinstance(node.value, bool):
            made = spliced(made, places.span(node), str(not node.value))
        elif others:
            made = spliced(made, places.span(node), repr(others[int(random.integers(len(others)))]))
    return None if made == text else made


def alternatives_in(tree: ast.AST) -> list[list[ast.Constant]]:
    """Return groups of strings that stand for the same choice: of one list, tuple or set, keys of one dict,
    or compared with the same value."""
    found: list[Sequence[ast.expr | None]] = []
    compared: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            found.append(node.elts)
        elif isinstance(node, ast.Dict):
            found.append(node.keys)
        elif isinstance(node, ast.Compare) and isinstance(node.comparators[0], ast.Constant):
            compared.setdefault(ast.unparse(node.left), []).append(node.comparators[0])
    groups = [
        [item for item in group if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        for group in [*found, *compared.values()]
    ]
    return [
        group
        for group, given in zip(groups, [*found, *compared.values()], strict=True)
        if group and len(group) == len(given)
    ]


def strings_in(tree: ast.AST, text: str) -> list[str]:
    """Return the short strings of a program, and words that its comments and docstrings have in quotes."""
    prose = {places_of(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(node.value) < LONGEST
        and places_of(node) not in prose
    }
    return sorted(constants | set(QUOTED.findall(text)))


MUTATIONS: dict[str, Mutation] = {
    "comparison": comparison,
    "operator": operator,
    "scaled": scaled,
    "flip": flip,
    "term": term,
    "shape": shape,
    "repeat": repeat,
    "string": string,
}
"""Name, as derivations have it -> change."""


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


def values_in(node: Function) -> list[str]:
    """Return names of a function that hold values: its arguments and what it assigns."""
    assigned = {
        item.id
        for item in ast.walk(node)
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) and item.id != "_"
    }
    return sorted(assigned | {argument.arg for argument in node.args.args})


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every list of statements that are below each other in functions."""
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            if not isinstance(node, ast.Module | ast.ClassDef) and isinstance(
                body := getattr(node, field, None), list
            ):
                yield body


def _drawn_in_function(
    text: str, spans: Spans, random: np.random.Generator, kinds: type[ast.expr] | UnionType
) -> tuple[ast.expr, Function] | None:
    """Return an expression of these kinds that is read in a function, and the function; no part of a longer
    name, and no function that is called."""
    places, found = Places(text), []
    for node in ast.walk(parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        left_out = {places_of(part) for item in ast.walk(node) for part in _not_values(item)}
        found += [
            (item, node)
            for statement in node.body
            for item in ast.walk(statement)
            if isinstance(item, ast.expr)
            and isinstance(item, kinds)
            and places_of(item) not in left_out
            and inside(*places.span(item), spans)
        ]
    return found[int(random.integers(len(found)))] if found else None


def places_of(node: ast.AST) -> tuple[int, int, int, int]:
    """Return where a node is."""
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


def _not_values(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a node that are no values to calculate with: what is called, what is assigned, docstrings,
    parts of f-strings."""
    if isinstance(node, ast.Call):
        yield node.func
    if isinstance(node, ast.Attribute):
        yield node.value
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node
    if isinstance(node, ast.JoinedStr):
        yield from ast.walk(node)
    if isinstance(node, ast.Constant) and not isinstance(node.value, int | float):
        yield node


def _in_blocks(places: Places, run: Sequence[ast.stmt], spans: Spans) -> bool:
    return inside(places.span(run[0])[0], places.span(run[-1])[1], spans)
