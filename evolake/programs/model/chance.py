"""Find out from the texts whether an evaluation can depend on its seed, or on any other chance.

Equal scores under a few seeds do not show that: a loss may come under one seed of ten. So a comparison counts
as one without noise only if neither the evaluator nor a program has anything to draw by: they import nothing
but what is known to draw nothing, name no source of chance, and the evaluator does not read the seed that
`cases(seed)` gets. A program must not be able to hide one either. Where the texts leave it open, all held-out
seeds are asked.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from evolake.parsing import parse_python
from evolake.programs.model.project import Project
from evolake.text_edits import BOM

PURE, AUTHORS, DRAWS, HIDES = (
    frozenset(words.split())
    for words in (
        "__future__ abc array bisect cmath collections copy dataclasses decimal enum fractions functools "
        "heapq itertools json math numbers numpy operator re statistics string typing",
        "importlib logging openevolve os pathlib sys traceback warnings",
        "random urandom getrandom default_rng rand randn randint samples shuffle permutation getpid empty "
        "empty_like ndarray",
        "getattr eval exec compile globals locals vars open input breakpoint attrgetter methodcaller hash id "
        "object lib testing ctypeslib f2py core",
    )
)
"""Modules that draw nothing; further ones that an evaluator may use, whose author hides nothing; names of
what draws, or reads memory that nobody wrote; names by which a program may reach such a thing unnamed."""
OTHERS = sys.stdlib_module_names - PURE


def chance_in(project: Project, programs: Iterable[Mapping[str, str]]) -> str:
    """Return what evaluations of these programs (name -> text of their files) may draw by, in words; "" if
    none can depend on a seed."""
    if not project.python or project.given.program.run or project.given.program.build:
        return "the program is run by a command of its own"
    own = {
        name: data.decode("utf-8", "replace").removeprefix(BOM)
        for name, data in project.evaluator_files.items()
        if name.endswith(".py")
    }
    local = {PurePosixPath(name).stem for name in (*own, *project.evolving)}
    try:
        if project.mode == "separate" and _reads_seed(parse_python(own[project.given.evaluator.file])):
            return "the evaluator's cases(seed) reads the seed"
        for name, text in own.items():
            for what in _sources(parse_python(text), PURE | AUTHORS | local, DRAWS, OTHERS - AUTHORS, False):
                return f"{name} has {what}"
        for program in programs:
            for name, text in program.items():
                for what in _sources(parse_python(text), PURE | local, DRAWS | HIDES, OTHERS, True):
                    return f"{name} of a program has {what}"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "a file is no Python that can be read"
    return ""


def _sources(
    tree: ast.AST, modules: Collection[str], names: Collection[str], parts: Collection[str], hidden: bool
) -> Iterator[str]:
    """Yield imports of other modules, and names of sources, with their lines.

    parts: names that count as attributes or where they are imported. hidden: whether names with two
    underscores count, too.
    """
    for node in ast.walk(tree):
        imported, used = list[str](), list[str]()
        match node:
            case ast.Import():
                imported = [item.name for item in node.names]
            case ast.ImportFrom():
                imported, used = [node.module or ""], [item.name for item in node.names]
            case ast.Attribute():
                used = [node.attr]
            case ast.Name():
                used = [node.id] if node.id.startswith("__") or node.id in names else []
            case _:
                continue
        line = f"(line {node.lineno})"
        for first, *inner in (path.split(".") for path in imported):
            if first not in modules:
                yield f"import {first} {line}"
            used += inner
        for name in used:
            secret = hidden and name.startswith("__") and name not in ("__name__", "__file__")
            if secret or name == "*" or name.strip("_") in {*names, *parts}:
                yield f"{name} {line}"


def _reads_seed(tree: ast.Module) -> bool:
    """Return whether `cases` is anything but a function that never looks at its one argument."""
    made = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "cases"]
    if len(made) != 1 or len(made[0].args.args) != 1 or made[0].args.vararg or made[0].args.kwarg:
        return True
    seed = made[0].args.args[0].arg
    hidden = {"locals", "vars", "eval", "exec"}
    return any(isinstance(node, ast.Name) and node.id in {seed, *hidden} for node in ast.walk(made[0]))
