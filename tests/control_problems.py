"""The problems of `benchmarks/programs_control.py`, its modules, and the problems that evolake ships, as
tests use them."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from evolake.programs import problems

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PROBLEMS = BENCHMARKS / "programs_control_problems"
SHARED = Path(problems.__file__).parent / "templates"
"""Modules that the evaluators of several problems share."""


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Modules of a folder can be imported; afterwards they are forgotten, since their names are short."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if (file := getattr(sys.modules[name], "__file__", None)) and Path(file).parent == folder:
                del sys.modules[name]


def load(path: Path, *folders: Path) -> Any:
    """A Python file as a module, which may import those of the folders."""
    spec = importlib.util.spec_from_file_location(f"control_{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with ExitStack() as stack:
        for folder in folders:
            stack.enter_context(importable(folder))
        spec.loader.exec_module(module)
    return module


def shared(name: str) -> Any:
    """A module that the evaluators of several problems share."""
    return load(SHARED / f"{name}.py", SHARED)


def module_of(problem: str, file: str) -> Any:
    """A file of a problem, as a module."""
    if problem not in problems.problems():
        return load(PROBLEMS / problem / file, SHARED)
    module = types.ModuleType(f"{problem}_{Path(file).stem}")
    with importable(SHARED):
        exec(compile(problems.problem_files(problem)[file], f"{problem}/{file}", "exec"), module.__dict__)
    return module


def results(output: Any) -> list[dict[str, Any]]:
    """What an evaluator is given of a program that returned this."""
    return [{"status": "ok", "output": output}]
