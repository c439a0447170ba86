"""Find in a program the names that lead to its evaluator, and constants of the evaluator.

This is a lint. It finds the usual spellings, so that a model does not cheat by accident, and code that means
to get round it can. It protects no score: a score is protected only if program and evaluator run in separate
processes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from evolake.programs.model.source import Unreadable, parse

MODULES = frozenset(
    {
        "gc",
        "inspect",
        "ctypes",
        "importlib",
        "builtins",
        "__main__",
        "atexit",
        "signal",
        "faulthandler",
        "unittest",
        "threading",
        "_thread",
        "concurrent",
        "multiprocessing",
        "asyncio",
    }
)
"""By which code gets at what imported it, or outlives its call."""
NAMES = frozenset(
    {
        "_getframe",
        "_current_frames",
        "__globals__",
        "__builtins__",
        "__subclasses__",
        "__code__",
        "__closure__",
        "__import__",
        "__loader__",
        "tb_frame",
        "f_back",
        "f_globals",
        "f_locals",
        "gi_frame",
        "settrace",
        "setprofile",
        "_exit",
        "setattr",
        "globals",
        "exec",
        "eval",
        "__dict__",
        "modules",
    }
)
FILES = frozenset(
    {
        "open",
        "listdir",
        "scandir",
        "glob",
        "rglob",
        "read_text",
        "read_bytes",
        "walk",
        "dup",
        "dup2",
        "fdopen",
        "write_text",
        "write_bytes",
    }
)
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+(?:[eE][-+]?\d+)?")
RECORDED = 3
"""Significant digits from which on evidence names a number of the evaluator; from which on it counts, the
rule says."""


def reaches(text: str, evaluator: str) -> set[str]:
    """Return ways to the evaluator that a Python text uses, in words; nothing for one that cannot be read.

    evaluator: name of its file.
    """
    module = PurePosixPath(evaluator).stem
    try:
        tree = parse(text)
    except Unreadable:
        return set()
    result: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            result |= {
                f"imports {name.name}" for name in node.names if name.name.split(".")[0] in MODULES | {module}
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES | {module}:
            result.add(f"imports {node.module}")
        elif isinstance(node, ast.Attribute) and node.attr in NAMES | FILES:
            result.add(f"uses {node.attr}")
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and _imported(node.value, tree)
        ):
            result.add(f"changes {ast.unparse(node)}")
        elif isinstance(node, ast.Name) and node.id in NAMES | FILES:
            result.add(f"uses {node.id}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and evaluator in node.value:
            result.add(f"names {evaluator}")
    return result


def _imported(node: ast.expr, tree: ast.Module) -> bool:
    """Return whether an expression begins with the name of an imported module."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    names = (name for result in ast.walk(tree) if isinstance(result, ast.Import) for name in result.names)
    return any(node.id in (name.asname, name.name.split(".")[0]) for name in names)


def constants(text: str) -> dict[str, tuple[int, bool]]:
    """Return number, in one spelling -> (its significant digits, whether the text writes it as a whole number
    only); none with fewer than `RECORDED`."""
    result: dict[str, tuple[int, bool]] = {}
    for match in NUMBER.finditer(text):
        digits = len(re.sub(r"[eE].*|\.", "", match.group()).strip("0"))
        if digits >= RECORDED:
            number = f"{float(match.group()):.12g}"
            result[number] = digits, "." not in match.group() and result.get(number, (0, True))[1]
    return result


def new_in(
    candidate: Mapping[str, str], initial: Mapping[str, str], evaluator: str, source: str
) -> tuple[list[str], list[tuple[str, int, bool]]]:
    """Return (ways to the evaluator, constants of it) that the candidate has and the initial program has not.

    A constant is (number, significant digits, whether one of the two texts writes it as a whole number).
    source: the evaluator's text.
    """
    python = [name for name in candidate if name.endswith(".py")]
    ways = {way for name in python for way in reaches(candidate[name], evaluator)}
    ways -= {way for name in python for way in reaches(initial.get(name, ""), evaluator)}
    own, known, scoring = (
        constants("\n".join(candidate.values())),
        constants("\n".join(initial.values())),
        constants(source),
    )
    held = sorted(own.keys() & scoring.keys() - known.keys())
    return sorted(ways), [(number, own[number][0], own[number][1] or scoring[number][1]) for number in held]
