"""Drawn families run in this process: their sources are our own tables' and need no jail."""

import ast
import builtins
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from worlds_answers import answer_of

from evolake.families.model.contract import Family
from evolake.families.model.statement import fill, stated

ENGINES = ("validator.py", "validators/clauses.py", "validators/table.py")
TYPES = {"integer": int, "string": str, "list": list, "mapping": dict, "number": str}
ENTRY = {"generator.py": "input", "reader.py": "read"}


def entries(family: Family) -> dict[str, Callable[..., Any]]:
    """File name -> the function that the contract names."""
    result = {}
    for name, source in family.sources().items():
        space: dict[str, Any] = {}
        exec(compile(source, name, "exec"), space)
        result[name] = space[ENTRY.get(name, "check" if name.startswith("checkers/") else "solution")]
    return result


def assert_answered_alike(
    family: Family, made: Mapping[str, Callable[..., Any]], difficulty: int, seed: int
) -> None:
    """By the three engines of a family's `entries` and a fourth program, on one instance, which the reader
    reads back."""
    random.seed(seed)
    inputs, texts = made["generator.py"](difficulty)
    text = fill(stated(family), texts)
    answers = [made[name](inputs) for name in ENGINES]
    assert answers == [answer_of(family, inputs, text)] * 3, (family.title, inputs)
    assert {type(answer) for answer in answers} == {TYPES[family.answer.type]}
    assert made["reader.py"](text) == inputs


def statements(family: Family, pairs: Sequence[tuple[int, int]]) -> list[str]:
    """The statements of these (difficulty, seed)."""
    make, texts = entries(family)["generator.py"], []
    for difficulty, seed in pairs:
        random.seed(seed)
        texts.append(fill(stated(family), make(difficulty)[1]))
    return texts


def unbound(source: str) -> set[str]:
    """Names that a program uses and nothing binds: no linter reads programs in Markdown."""
    tree = ast.parse(source)
    bound = {
        *dir(builtins),
        *(
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        ),
        *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)),
        *(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)),
        *((node.asname or node.name) for node in ast.walk(tree) if isinstance(node, ast.alias)),
    }
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound
