"""Write the value that a program computes in place of the code that computes it: numbers as literals, some in
a line, which can be taken as one vector. The code itself is in the parent."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from evolake.programs.model.program_text import Places, cut, parse
from evolake.programs.search.numbers import inside

WIDEST = 96
"""Characters of a line of literals."""
INDENT = "    "


def function_in(text: str, name: str, file: str) -> ast.FunctionDef | None:
    """Return the function of a text that may be rewritten: at the top, within a block, without decorators;
    None if there is none, or not exactly one of the name. Raises Unreadable or BadBlocks."""
    places, spans = Places(text), cut(text, file).spans()
    found = [node for node in parse(text).body if getattr(node, "name", None) == name]
    if len(found) != 1 or not isinstance(found[0], ast.FunctionDef) or found[0].decorator_list:
        return None
    return found[0] if inside(*places.span(found[0]), spans) else None


def lifted(text: str, name: str, file: str, value: Any) -> str | None:
    """Return the text with a function that returns a value, and without what only that function used, as far
    as it is in the blocks; None if it has no such function that may be rewritten."""
    node = function_in(text, name, file)
    if node is None:
        return None
    places, body = Places(text), node.body[ast.get_docstring(node) is not None :]
    first = (
        min((item.lineno for item in (body[0], *getattr(body[0], "decorator_list", ()))), default=0)
        if body
        else 0
    )
    if first > node.lineno:
        start, indent = places.lines(first, first)[0], " " * body[0].col_offset
        before = indent
    else:
        indent = " " * node.body[0].col_offset if node.body[0].lineno > node.lineno else INDENT
        start = places.span(body[0])[0] if body else places.span(node)[1]
        before = f"\n{indent}"
    written = f"{before}return {literal(value, indent)}"
    return without_unused(text[:start].rstrip(" ") + written + text[places.span(node)[1] :], name, file)


def literal(value: Any, indent: str) -> str:
    """Return a value as literals, the items of a long list some in a line."""
    whole = repr(value)
    if len(whole) + len(indent) <= WIDEST or not isinstance(value, list | dict) or not value:
        return whole
    inner = indent + INDENT
    if isinstance(value, dict):
        items = [f"{key!r}: {literal(item, inner)}" for key, item in value.items()]
    else:
        items = [literal(item, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    lines = (f"{inner}{line}\n" for line in _filled(items, WIDEST - len(inner)))
    return f"{opening}\n{''.join(lines)}{indent}{closing}"


def _filled(items: list[str], width: int) -> Iterator[str]:
    """Yield lines of items with a comma behind each."""
    line = ""
    for item in items:
        if line and len(line) + len(item) + 2 > width:
            yield line
            line = ""
        line += f"{' ' if line else ''}{item},"
    yield line


def without_unused(text: str, name: str, file: str) -> str:
    """Return the text without the functions and constants at the top of its blocks that nothing names, but
    the function of that name."""
    while True:
        tree, places, spans = parse(text), Places(text), cut(text, file).spans()
        named = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        named |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for node in tree.body:
            own = (
                node.name
                if isinstance(node, ast.FunctionDef) and not node.decorator_list
                else _assigned(node)
            )
            whole = places.lines(node.lineno, node.end_lineno or node.lineno)
            if own and own != name and own not in named and inside(*whole, spans):
                before = (
                    text[: whole[0]].rstrip("\n") + "\n"
                    if text[: whole[0]].endswith("\n\n\n")
                    else text[: whole[0]]
                )
                text = before + text[whole[1] :]
                break
        else:
            return text


def _assigned(node: ast.stmt) -> str:
    """Return the name that a statement gives a constant; "" for any other statement."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return (
            node.targets[0].id
            if isinstance(node.value, ast.Constant | ast.List | ast.Tuple | ast.Dict)
            else ""
        )
    return ""
