"""A project of a function that exists: the file that defines it becomes the initial program, with the
function between the marks, and the file that scores it stands next to the evaluator. Both are read, never run
here."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import InputError
from evolake.parsing import parse_python
from evolake.programs.model.program_text import END, START

_EVALUATOR = '''"""Scores `{function}` of the program by `{score}` of scoring.py."""

import importlib.util

from scoring import {score} as _score


def evaluate(program_path):
    """`{score}` gets the function and gives a number, or a dict of numbers with `combined_score`."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    result = _score(lambda *values: program.{function}(*values))
    return result if isinstance(result, dict) else {{"combined_score": float(result)}}
'''
_PROJECT = """description = {about}

[metrics]
combined_score = "{best}"
"""


@dataclass(frozen=True)
class _Function:
    """A function of a file. first, last: its lines, from 1, decorators among them."""

    path: Path
    name: str
    text: str
    first: int
    last: int


def project_of_function(function: str, score: str, *, minimize: bool) -> dict[str, str]:
    """Return the files of a project: name -> text.

    Args:
        function, score: `FILE.py:NAME` or `MODULE:NAME`, a module being a file below the current folder. The
            score is called with the function. minimize: lower scores are better.

    Raises:
        InputError: a file or function that is not there, is no Python, or takes no argument.
    """
    evolved, scored = _found("--from-function", function), _found("--score", score)
    program = evolved.text
    if START not in program:
        lines = re.split(r"(?<=\n)", program)  # as line numbers of a syntax tree count
        end = lines[evolved.last - 1]
        lines[evolved.last - 1] = end if end.endswith("\n") else f"{end}\n"
        lines.insert(evolved.last, f"# {END}\n")
        lines.insert(evolved.first - 1, f"# {START}\n")
        program = "".join(lines)
    names = {"function": evolved.name, "score": scored.name}
    best = "min" if minimize else "max"
    about = f"{evolved.name} of {evolved.path.name}, scored by {scored.name}."
    return {
        "initial_program.py": program,
        "scoring.py": scored.text,
        "evaluator.py": _EVALUATOR.format(**names),
        "project.toml": _PROJECT.format(about=json.dumps(about, ensure_ascii=False), best=best),
    }


def _found(option: str, named: str) -> _Function:
    place, colon, name = named.rpartition(":")
    wanted = "FILE.py:FUNCTION or MODULE:FUNCTION"
    if not (colon and place and name.isidentifier()):
        raise InputError(f"{option} names no function", wanted=wanted, got=repr(named))
    path = Path(place if place.endswith(".py") else f"{place.replace('.', '/')}.py")
    if not path.is_file():
        raise InputError(
            f"{option}: there is no file {path}",
            wanted=wanted,
            got=repr(named),
            do="name it from this folder",
        )
    try:
        text = path.read_text(encoding="utf-8")
        tree = parse_python(text)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(f"{option}: {path} is not read as Python in UTF-8: {error}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if name not in functions:
        raise InputError(
            f"{option}: {path} defines no function {name}",
            wanted="a function at its top level",
            got=", ".join(functions) or "none",
        )
    node = functions[name]
    if not (node.args.args or node.args.posonlyargs or node.args.vararg):
        raise InputError(f"{option}: {name} of {path} takes no argument", wanted="at least one")
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    return _Function(path, name, text, first, node.end_lineno or node.lineno)
