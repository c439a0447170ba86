"""Sources of families as syntax trees: parse them, on the host and bounded (see `evolake.parsing.bounded`);
change and join them: switch a rule, wrap a module into a function, put glue around it; and say what a checker
may use. Exports carry the checkers' sources to trainers, who run them outside the jail: so a checker is pure,
by its syntax.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evolake.families.model.contract import (
    CHECKERS,
    GENERATOR,
    MAX_SOURCE_BYTES,
    READER,
    VALIDATOR,
    VALIDATORS,
    Family,
)
from evolake.parsing import Unreadable as Unreadable
from evolake.parsing import bounded, parse_python


def parse(source: str, longest: int = MAX_SOURCE_BYTES) -> ast.Module:
    """Return the tree of a source of at most `longest` characters. Raises Unreadable: too long, too deep, or
    not to be parsed."""
    return bounded(source, longest)


def parse_expression(text: str) -> ast.expr:
    """Return the tree of one expression. Raises Unreadable as `parse` does."""
    return bounded(text, MAX_SOURCE_BYTES, "eval").body


def unparsed(text: str) -> str:
    """Return an expression in Python's own spelling; the text itself where it cannot be parsed."""
    try:
        return ast.unparse(parse_expression(text))
    except Unreadable:
        return text


class NotComposable(ValueError):
    """A source that cannot become part of another. A fact about the candidate: operators choose other
    parents."""


def switch(family: Family, point: str, alternative: str) -> Family:
    """Return the family under another alternative of one of its rules: in every source and, by its choice, in
    the text.

    Raises:
        KeyError: no such point or alternative. NotComposable: no source assigns the point's constant.
    """
    points = {item.name: item for item in family.points}
    chosen = points[point].alternative(alternative)
    constant = points[point].constant
    sources = {
        name: set_constant(source, constant, chosen.expression(name))
        for name, source in family.sources().items()
    }
    if not any(sources[name] is not None for name in sources):
        raise NotComposable(f"no source assigns {constant}")
    kept = {name: new if new is not None else family.sources()[name] for name, new in sources.items()}
    changed = tuple(
        replace(item, chosen=alternative) if item.name == point else item for item in family.points
    )
    return replace(with_sources(family, kept), points=changed)


def with_sources(family: Family, sources: Mapping[str, str]) -> Family:
    """Return the family with other sources, by file name; those not named stay."""
    result = {**family.sources(), **sources}
    validators, checkers = (
        {
            name[len(kind) + 1 : -len(".py")]: source
            for name, source in result.items()
            if name.startswith(f"{kind}/")
        }
        for kind in (VALIDATORS, CHECKERS)
    )
    return replace(
        family,
        generator=result[GENERATOR],
        validator=result[VALIDATOR],
        validators=validators,
        checkers=checkers,
        reader=result.get(READER),
    )


def set_constant(source: str, constant: str, expression: str) -> str | None:
    """Return the source with the value of every assignment `constant = ...` replaced; None if there is none.
    Comments and layout stay.

    Raises NotComposable where the source or the expression cannot be parsed.
    """
    try:
        parse_expression(expression)
    except Unreadable as error:
        raise NotComposable(str(error)) from None
    tree = _parsed(source)
    values = [value for names, value in _assigned(tree) if names == [constant]]
    if not values:
        return None
    lines = [line.encode() for line in source.splitlines(keepends=True)]  # columns of the tree count bytes
    for value in sorted(values, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        first, last = value.lineno - 1, (value.end_lineno or value.lineno) - 1
        head, tail = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
        lines[first : last + 1] = (
            [head + f"({expression})".encode() + tail]
            if "\n" in expression
            else [head + expression.encode() + tail]
        )
    return b"".join(lines).decode()


def without_function(source: str, name: str, gives: str) -> str | None:
    """Return the source in which the function called `name` does nothing but return the expression `gives`;
    None if there is none of that name."""
    try:
        tree = parse(source)
    except Unreadable:
        return None
    places = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    for node in places:
        node.body = [ast.Return(value=parse_python(gives, "eval").body)]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n" if places else None


def constants(source: str) -> dict[str, str]:
    """Return name -> expression of every assignment to a single name in capitals, anywhere in the source;
    empty where it cannot be parsed."""
    try:
        tree = parse(source)
    except Unreadable:
        return {}
    return {
        names[0]: ast.unparse(value)
        for names, value in _assigned(tree)
        if len(names) == 1 and names[0].isupper()
    }


def rename_constants(source: str, names: Mapping[str, str]) -> str:
    """Return the source with these names changed wherever they are names (not as attributes, not in strings).
    Comments are lost."""
    tree = _parsed(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]
    return ast.unparse(tree) + "\n"


def factory(name: str, source: str, entry: str) -> ast.FunctionDef:
    """Return the module `source` as a function `name()` that returns its `entry`: what the module named
    globally is now local to one call of it.

    Raises:
        NotComposable: it cannot be parsed, lacks the entry, or does what only a module can (`global`, `import
            *`, `globals()`).
    """
    tree = _parsed(source)
    if not defines(tree, entry):
        raise NotComposable(f"no function {entry!r}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            raise NotComposable(f"line {node.lineno}: a global statement")
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            raise NotComposable(f"line {node.lineno}: import *")
        if isinstance(node, ast.Name) and node.id in ("globals", "__name__", "__file__"):
            raise NotComposable(f"line {node.lineno}: {node.id}")
    body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.ImportFrom) and node.module == "__future__") and not _is_docstring(node)
    ]
    shell = parse_python(f"def {name}():\n    return {entry}").body[0]
    assert isinstance(shell, ast.FunctionDef)
    shell.body = [*body, *shell.body]
    return shell


def compose(factories: Sequence[ast.FunctionDef], glue: str) -> str:
    """Return one source: the factories, then the glue."""
    tree = parse_python(glue)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    module = ast.Module(body=[*imports, *factories, *rest], type_ignores=[])
    return ast.unparse(ast.fix_missing_locations(module)) + "\n"


def defines(tree: ast.Module, entry: str) -> bool:
    """Return whether the module has a top-level function, or assignment, of that name."""
    return any(isinstance(node, ast.FunctionDef) and node.name == entry for node in tree.body) or any(
        names == [entry] for node in tree.body for names, _ in _assignment(node)
    )


def _parsed(source: str) -> ast.Module:
    try:
        return parse(source)
    except Unreadable as error:
        raise NotComposable(str(error)) from None


def _assigned(tree: ast.Module) -> list[tuple[list[str], ast.expr]]:
    return [item for node in ast.walk(tree) for item in _assignment(node)]


def _assignment(node: ast.AST) -> list[tuple[list[str], ast.expr]]:
    """Return (names, value) of an assignment, with or without an annotation; nothing for another node."""
    if isinstance(node, ast.Assign):
        return [([target.id for target in node.targets if isinstance(target, ast.Name)], node.value)]
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return [([node.target.id], node.value)]
    return []


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


MODULES = frozenset(
    {"bisect", "collections", "fractions", "functools", "heapq", "itertools", "json", "math", "re"}
)
"""Modules that a checker may import."""
BUILTINS = frozenset(
    {
        "breakpoint",
        "compile",
        "delattr",
        "eval",
        "exec",
        "exit",
        "getattr",
        "globals",
        "help",
        "input",
        "locals",
        "memoryview",
        "object",
        "open",
        "print",
        "quit",
        "setattr",
        "super",
        "type",
        "vars",
    }
)
"""Built-ins that a checker may not use."""
ATTRIBUTES = (frozenset(sys.stdlib_module_names) - {"copy"}) | {
    "ag_frame",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_globals",
    "f_locals",
    "format",
    "format_map",
    "gi_frame",
    "mro",
    "tb_frame",
    "tb_next",
    "update_wrapper",
    "wraps",
}
"""Attributes that a checker may not use: names of modules, of frames, of base classes, and functions that
read attributes by name."""


def impurity(source: str) -> str:
    """Return the first thing in a checker's source that it may not use, "" if there is none."""
    try:
        tree = parse(source)
    except Unreadable as error:
        return f"a source that cannot be parsed: {error}"
    for node in ast.walk(tree):
        if found := _refused(node):
            return f"line {getattr(node, 'lineno', 0)}: {found}"
    return ""


def _refused(node: ast.AST) -> str:
    if isinstance(node, ast.Import):
        return next((f"import {item.name}" for item in node.names if item.name not in MODULES), "")
    if isinstance(node, ast.ImportFrom):
        if node.module == "__future__" and not node.level:
            return ""
        if node.level or node.module not in MODULES:
            return f"import of {node.module}"
        return next(
            (f"import of {item.name}" for item in node.names if _hidden(item.name) or item.name == "*"), ""
        )
    if isinstance(node, ast.MatchClass):
        return next((f"the pattern {name}=" for name in node.kwd_attrs if _hidden(name)), "")
    if isinstance(node, ast.Name) and (node.id in BUILTINS or node.id.startswith("__")):
        return node.id
    return f".{node.attr}" if isinstance(node, ast.Attribute) and _hidden(node.attr) else ""


def _hidden(name: str) -> bool:
    return name.startswith("_") or name in ATTRIBUTES
