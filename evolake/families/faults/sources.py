"""How faults change sources: a wrapper around the whole module, so that it fits any family, or new names for
its variables."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace

from evolake.families.model.contract import Family
from evolake.families.model.source_code import NotComposable, compose, factory
from evolake.parsing import parse_python
from evolake.program_templates import fill_template, load_template

_TEMPLATES = "evolake.families.faults.templates"
WRONG, FORGED = (load_template(f"{_TEMPLATES}.{name}") for name in ("wrong", "forged"))
"""Heads of `answers`: `wrong(answer, by)`; `forged()`, which books more work from one instance to the next in
the driver's own books."""
Wrapper = Callable[[str], str]


def answers(expression: str, head: str = "") -> Wrapper:
    """Return a validator around a validator: `expression` over `answer` and `inputs`, with `head` before
    it."""
    glue = fill_template(f"{_TEMPLATES}.solve", head=f"{head}\n", expression=expression)
    return lambda source: compose([factory("part", source, "solution")], glue)


def primary(family: Family, wrapper: Wrapper) -> Family:
    """Return the primary validator in a wrapper."""
    return replace(family, validator=wrapper(family.validator))


def independent(family: Family, wrapper: Callable[[int], Wrapper]) -> Family:
    """Return each independent validator in its own wrapper, numbered from 1."""
    return replace(
        family,
        validators={
            name: wrapper(number)(source)
            for number, (name, source) in enumerate(family.validators.items(), start=1)
        },
    )


def every_voter(family: Family, wrapper: Wrapper) -> Family:
    """Return the primary validator and each independent one in the same wrapper."""
    return independent(primary(family, wrapper), lambda number: wrapper)


def generator(family: Family, body: str) -> Family:
    """Return the generator around itself: `body` returns, and may call `make(difficulty)`."""
    glue = fill_template(f"{_TEMPLATES}.generate", body=f"    {body}\n")
    return replace(family, generator=compose([factory("part", family.generator, "input")], glue))


def own_answer(family: Family) -> Family:
    """Return a family whose generator solves its own instance and says the answer in passing."""
    parts = [factory("part_a", family.generator, "input"), factory("part_b", family.validator, "solution")]
    return replace(family, generator=compose(parts, load_template(f"{_TEMPLATES}.leak")))


def renamed(source: str, number: int) -> str:
    """Return the source with other names of variables: the same program. Names of the language, of entries,
    constants, keywords and modules stay."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotComposable(f"cannot be parsed: {error}") from None
    stored = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    kept = (
        {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg | ast.keyword)}
        | set(dir(builtins))
        | {"input", "solution", "read"}
    )
    kept |= {
        name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    changed = {name: f"{name}_{number}" for name in stored if name not in kept and not name.isupper()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in changed:
            node.id = changed[node.id]
    return ast.unparse(tree) + "\n"
