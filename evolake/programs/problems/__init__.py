"""Open problems whose answer is an object, as projects: `problems.toml` says what each looks for, and the
best that is known; `templates` has their initial programs, and the modules that their evaluators share.

The published constructions are nowhere in here: what searches must not be able to read them.
"""

from __future__ import annotations

import json
import re
import tomllib
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import Any

from evolake.errors import InputError

FOLDER = resources.files(__name__)
IMPORTED = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
EVALUATOR = '''"""{title}."""

import {module}


def cases(seed):
    """Return the one case: there is nothing to vary."""
    return [0]


def score(cases, results):
    """Return the metrics of what the program returned."""
    return {module}.{score}
'''
SMOOTH = '''

def smooth(output):
    """Return terms and limits of an output, for a polish of its numbers; nothing is scored by them."""
    return {module}.{smooth}
'''
PROJECT = """description = {title}

[program]
entry = "build"

[evaluator]
mode = "separate"
cpu_s = 2
memory_mb = 512

[metrics]
{metric} = "{way}"

[construction]
picture = {picture}
best = {best}
source = {source}
date = {date}
"""


@cache
def problems() -> dict[str, dict[str, Any]]:
    """Return name -> what `problems.toml` says of it: title, score and smooth (what the evaluator's module
    returns), max or min (the metric), best, source, date and picture."""
    return tomllib.loads(FOLDER.joinpath("problems.toml").read_text(encoding="utf-8"))


def problem_named(given: str) -> str:
    """Return the name of the problem that a user means; `-` counts as `_`.

    Raises:
        InputError: there is none.
    """
    known, name = problems(), given.replace("-", "_")
    if name in known:
        return name
    near = get_close_matches(name, list(known), 3)
    do = (f"did you mean {' or '.join(near)}? " if near else "") + "`evolake programs new --list` lists them"
    raise InputError(f"there is no problem {given!r}", do=do)


def problem_files(name: str) -> dict[str, str]:
    """Return path -> text of the project of a problem, with the modules that its evaluator needs."""
    given = problems()[name]
    module, _, score = given["score"].partition(".")
    way = "max" if "max" in given else "min"
    quoted = ("title", "source", "date", "picture")
    texts = {key: json.dumps(given[key], ensure_ascii=False) for key in quoted}
    evaluator = EVALUATOR.format(title=given["title"], module=module, score=score)
    if "smooth" in given:
        evaluator += SMOOTH.format(module=module, smooth=given["smooth"])
    files = {
        "project.toml": PROJECT.format(metric=given[way], way=way, best=given["best"], **texts),
        "initial_program.py": _template(f"initial/{name}"),
        "evaluator.py": evaluator,
    }
    missing = {module}
    while missing:
        files |= {f"{item}.py": _template(item) for item in missing}
        imported = {item for text in files.values() for item in IMPORTED.findall(text)}
        missing = {
            item
            for item in imported
            if f"{item}.py" not in files and FOLDER.joinpath("templates", f"{item}.py").is_file()
        }
    return files


def _template(name: str) -> str:
    return FOLDER.joinpath("templates", f"{name}.py").read_text(encoding="utf-8")


def lines_of_problems() -> list[str]:
    """Return two lines on each problem: its name and title, and the best known value with its source."""
    result: list[str] = []
    for name, given in problems().items():
        metric, way = (given["max"], "higher") if "max" in given else (given["min"], "lower")
        result += [
            f"{name}  {given['title']}",
            f"    {metric} {given['best']}, {way} is better: {given['source']} ({given['date']})",
        ]
    return result
