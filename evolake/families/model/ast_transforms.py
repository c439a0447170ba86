"""Tools that change and join the sources of families: switch a rule, wrap a module into a function, put glue
over several.

Everything works on syntax trees or on exact source ranges, never by search and replace, so that strings and
look-alike names stay what they are.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evolake.families.model.contract import GENERATOR, READER, VALIDATOR, VALIDATORS, Family
from evolake.families.model.syntax import Unreadable, parse, parse_expression
from evolake.parsing import parse_python


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
    prefix = f"{VALIDATORS}/"
    validators = {
        name[len(prefix) : -len(".py")]: source for name, source in result.items() if name.startswith(prefix)
    }
    return replace(
        family,
        generator=result[GENERATOR],
        validator=result[VALIDATOR],
        validators=validators,
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
    values = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Assign) and _names(node) == [constant]
    ]
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


def constants(source: str) -> dict[str, str]:
    """Return name -> expression of every assignment to a single name in capitals, anywhere in the source;
    empty where it cannot be parsed."""
    try:
        tree = parse(source)
    except Unreadable:
        return {}
    result = [(node, _names(node)) for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    return {
        names[0]: ast.unparse(node.value) for node, names in result if len(names) == 1 and names[0].isupper()
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
    return any(
        (isinstance(node, ast.FunctionDef) and node.name == entry)
        or (isinstance(node, ast.Assign) and _names(node) == [entry])
        for node in tree.body
    )


def _parsed(source: str) -> ast.Module:
    try:
        return parse(source)
    except Unreadable as error:
        raise NotComposable(str(error)) from None


def _names(node: ast.Assign) -> list[str]:
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
