"""How faults change sources: a wrapper around the whole module, so that it fits any family, or new names for its variables."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import replace

from evolake.families.model.ast_transforms import NotComposable, compose, factory
from evolake.families.model.contract import Family
from evolake.parsing import parse_python

SOLVE = '''
import json

solve = part()
{head}

def solution(inputs):
    given = json.loads(json.dumps(inputs))
    answer = solve(given)
    if isinstance(answer, dict) and answer.get("status") == "schema_error":
        return answer
    return {expression}
'''
GENERATE = '''
make = part()


def input(difficulty):
    {body}
'''
WRONG = '''

def wrong(answer, by):
    if isinstance(answer, bool):
        return not answer
    if isinstance(answer, str):
        return answer + "x" * by
    if isinstance(answer, dict):
        return {**answer, "extra": by}
    if isinstance(answer, (list, tuple)):
        return [*answer, *[0] * by]
    return answer + by
'''
FORGED = '''
import sys

calls = []


def forged():
    calls.append(1)
    frame = sys._getframe()
    while frame is not None:
        counter = frame.f_locals.get("counter")
        if hasattr(counter, "steps"):
            counter.steps += 1000 * len(calls)
        frame = frame.f_back
'''
"""More work from one instance to the next, in the driver's own books."""
LEAK = '''
import json

make, solve = part_a(), part_b()


def input(difficulty):
    inputs, texts = make(difficulty)
    answer = solve(json.loads(json.dumps(inputs)))
    return inputs, [*list(texts)[:-1], list(texts)[-1] + " (answer: " + json.dumps(answer, default=str) + ")"]
'''
Wrapper = Callable[[str], str]


def answers(expression: str, head: str = "") -> Wrapper:
    """A validator around a validator: `expression` over `answer` and `inputs`, with `head` before it."""
    return lambda source: compose([factory("part", source, "solution")], SOLVE.format(head=head, expression=expression))


def primary(family: Family, wrapper: Wrapper) -> Family:
    """The primary validator in a wrapper."""
    return replace(family, validator=wrapper(family.validator))


def independent(family: Family, wrapper: Callable[[int], Wrapper]) -> Family:
    """Each independent validator in a wrapper of its own, numbered from 1."""
    return replace(family, validators={name: wrapper(number)(source) for number, (name, source) in enumerate(family.validators.items(), start=1)})


def every_voter(family: Family, wrapper: Wrapper) -> Family:
    """The primary validator and each independent one in the same wrapper."""
    return independent(primary(family, wrapper), lambda number: wrapper)


def generator(family: Family, body: str) -> Family:
    """The generator around itself: `body` returns, and may call `make(difficulty)`."""
    return replace(family, generator=compose([factory("part", family.generator, "input")], GENERATE.format(body=body)))


def own_answer(family: Family) -> Family:
    """The generator solves its own instance and says the answer in passing."""
    parts = [factory("part_a", family.generator, "input"), factory("part_b", family.validator, "solution")]
    return replace(family, generator=compose(parts, LEAK))


def renamed(source: str, number: int) -> str:
    """The source with other names of variables: the same program. Names of the language, of entries, constants, keywords and modules stay."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotComposable(f"cannot be parsed: {error}") from None
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    kept = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg | ast.keyword)} | set(dir(builtins)) | {"input", "solution", "read"}
    kept |= {name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    changed = {name: f"{name}_{number}" for name in stored if name not in kept and not name.isupper()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in changed:
            node.id = changed[node.id]
    return ast.unparse(tree) + "\n"
