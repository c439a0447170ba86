"""Foreign tasks as drafts of families: their generator, their answer and their scorer, in the form of the
contract.

    reasoning-gym:NAME    a data set of reasoning-gym with a curriculum
    FOLDER                Enigmata's shape: generator.py with `generate(count, difficulty, ...)`, verifier.py
                          with `verify(pred, answer, meta)`
    FOLDER                SynLogic's shape: a class with `generate` and `verify` (or a verifier) in a Python
                          file, mostly below `scripts/`

A draft has one hand behind it: the answer is the task's own, and so is the scorer. It is accepted only after
independent validators, or checkers that only compute, and a reader are added. Nothing of the task runs here;
sources are read and parsed.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from evolake.errors import InputError
from evolake.families.model.contract import MAX_SOURCE_BYTES, Answer, Family
from evolake.families.model.loading import id_of, read_text
from evolake.families.model.syntax import Unreadable, parse
from evolake.families.sandbox.external import VALIDATOR, external_family
from evolake.program_templates import load_template

GYM = "reasoning-gym:"
OPERATOR = "import"
MOST_FILES = 40
_TEMPLATES = "evolake.families.sandbox.templates"
SHAPES = (
    f"{GYM}NAME, a folder with generator.py (`generate`) and verifier.py (`verify`), or a folder with a "
    "class that has `generate` and `verify`"
)


def gym_task(name: str) -> Family:
    """Return a data set of reasoning-gym as a draft with its scorer."""
    return replace(
        external_family(name),
        operator=OPERATOR,
        checkers={"scorer": load_template(f"{_TEMPLATES}.gym_scorer")},
    )


def folder_task(folder: Path) -> Family:
    """Return the task in a folder as a draft. Raises InputError if the folder has neither shape, or is too
    large."""
    paths = sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")
    if len(paths) > MOST_FILES:
        what = f"{folder} has more Python files than a task may have"
        raise InputError(
            what, wanted=f"at most {MOST_FILES}", got=str(len(paths)), do="give the folder of one task"
        )
    files = {path.relative_to(folder).as_posix(): read_text(path) for path in paths}
    loader = load_template(f"{_TEMPLATES}.foreign_modules")
    trees = {name: _parsed(folder / name, text) for name, text in files.items()}
    if _defines(trees, "generator.py", "generate") and _defines(trees, "verifier.py", "verify"):
        head, task = "", load_template(f"{_TEMPLATES}.enigmata_task")
    elif found := _game(trees):
        head, task = (
            f'GAME = {found!r}\n"""File and class of the task."""\n',
            load_template(f"{_TEMPLATES}.synlogic_task"),
        )
    else:
        raise InputError(
            f"{folder} holds no task that is known",
            wanted=SHAPES,
            got=", ".join(files) or "no Python file",
            do="give the folder of one task",
        )
    source = f'FILES = {files!r}\n"""Path -> source."""\n{head}\n{loader}\n\n{task}'
    if len(source.encode()) > MAX_SOURCE_BYTES:
        raise InputError(
            f"the task in {folder} is too large",
            wanted=f"at most {MAX_SOURCE_BYTES} bytes of source",
            got=str(len(source.encode())),
        )
    name = id_of(folder)
    return Family(
        name=name,
        title=name.replace("-", " "),
        category="other",
        language="en",
        generator=source,
        template="[Input Slot 1]\n",
        validator=VALIDATOR,
        answer=Answer("any"),
        operator=OPERATOR,
        checkers={"scorer": source},
    )


def _parsed(path: Path, text: str) -> ast.Module:
    try:
        return parse(text)
    except Unreadable as error:
        raise InputError(
            f"{path} cannot be parsed", got=str(error), do="correct the file, or give the folder of one task"
        ) from None


def _defines(trees: dict[str, ast.Module], file: str, function: str) -> bool:
    return any(
        isinstance(node, ast.FunctionDef) and node.name == function
        for name, tree in trees.items()
        if name.rpartition("/")[2] == file
        for node in tree.body
    )


def _game(trees: dict[str, ast.Module]) -> tuple[str, str] | None:
    """(file, class) of the first class that has `generate` and either `verify` or a base class, which may
    bring it."""
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                if "generate" in methods and ("verify" in methods or node.bases):
                    return name, node.name
    return None
