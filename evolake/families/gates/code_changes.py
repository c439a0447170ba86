"""Sources with one thing changed, to see whether it matters: a number another, a rule under another
alternative, a function without its work.

All work on the syntax tree. What a factory of a composed family holds (see contract) was its parent's, and
was looked at there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from evolake.families.model.syntax import Unreadable, parse
from evolake.parsing import parse_python
from evolake.program_templates import load_template

ENTRIES = frozenset({"input", "solution", "read"})


def whole_numbers(source: str) -> set[int]:
    """Return the integers that are in the source, and how many elements its written collections have; empty
    where it cannot be parsed."""
    tree = _tree(source)
    if tree is None:
        return set()
    result: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            result.add(node.value)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            result.add(len(node.elts))
        elif isinstance(node, ast.Dict):
            result.add(len(node.keys))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            result.add(len(node.value))
    return result


def with_number(source: str, value: int) -> str | None:
    """Return the source with one more in every place where `value` is an integer; None where it is
    nowhere."""
    tree = _tree(source)
    if tree is None:
        return None
    places = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value == value
    ]
    for node in places:
        node.value = value + 1
    return ast.unparse(tree) + "\n" if places else None


def helpers(source: str) -> list[str]:
    """Return the functions next to the entry that are called by name, those of factories left out. One that
    is looked up in a table may belong to another alternative of a rule than the one in force.
    """
    tree = _tree(source)
    return [] if tree is None else [node.name for node in _functions(tree)]


def without_function(source: str, name: str, gives: str) -> str | None:
    """Return the source in which the function called `name` does nothing but return the expression `gives`;
    None if there is none of that name."""
    tree = _tree(source)
    places = (
        []
        if tree is None
        else [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    )
    for node in places:
        node.body = [ast.Return(value=parse_python(gives, "eval").body)]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n" if tree is not None and places else None


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    used = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.name in used - ENTRIES
            and not node.name.startswith("part")
        ):
            yield node


def _tree(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except Unreadable:
        return None


TURNED = load_template("evolake.families.gates.templates.turned")
"""Sorting and choosing that keep the first part of a key only, and take equals in the opposite order."""


class _Turning(ast.NodeTransformer):
    """Puts those in place of sorted, min and max that have a key or take tuples, and cuts tuples in keys down
    to their first part."""

    def __init__(self) -> None:
        self.changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("sorted", "min", "max"):
            self.changed = True
            node.func.id = f"_turned_{node.func.id}"
            self._cut(node)
        return self._last_place(node)

    @staticmethod
    def _last_place(node: ast.Call) -> ast.AST:
        """For `items.index(max(...))` the last place in place of the first."""
        function, best = node.func, node.args[0] if len(node.args) == 1 else None
        if not (
            isinstance(function, ast.Attribute) and function.attr == "index" and isinstance(best, ast.Call)
        ):
            return node
        if not (isinstance(best.func, ast.Name) and best.func.id in ("_turned_min", "_turned_max")):
            return node
        return ast.Call(func=ast.Name("_turned_index", ast.Load()), args=[function.value, best], keywords=[])

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "sort"
            and isinstance(call.func.value, ast.Name)
        ):
            self.changed = True
            self._cut(call)
            items = call.func.value
            turned = ast.Call(
                func=ast.Name("_turned_sorted", ast.Load()), args=[items], keywords=call.keywords
            )
            target = ast.Subscript(value=ast.Name(items.id, ast.Load()), slice=ast.Slice(), ctx=ast.Store())
            return ast.Assign(targets=[target], value=turned)
        return node

    @staticmethod
    def _cut(call: ast.Call) -> None:
        for keyword in call.keywords:
            if (
                keyword.arg == "key"
                and isinstance(keyword.value, ast.Lambda)
                and isinstance(keyword.value.body, ast.Tuple)
            ):
                keyword.value.body = keyword.value.body.elts[0]


def with_ties_turned(source: str) -> str | None:
    """Return the source in which equals are taken in the opposite order; None if nothing is sorted or
    chosen."""
    tree = _tree(source)
    if tree is None:
        return None
    turning = _Turning()
    tree = turning.visit(tree)
    if not turning.changed:
        return None
    start = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    docstring = bool(tree.body) and isinstance(tree.body[0], ast.Expr)
    tree.body[start + docstring : start + docstring] = parse_python(TURNED).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
