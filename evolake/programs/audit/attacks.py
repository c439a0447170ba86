"""Make the attacks of `attacks.toml` into programs for one project.

An attack is a whole program: the initial program with functions in front of its own, or nothing but functions
of the same names. Marks of blocks, lints and gates hold a text back and not what it does, so attacks do not
regard them. Its control is the same program whose functions in front change nothing."""

from __future__ import annotations

import itertools
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from evolake.parsing import parse_python
from evolake.programs.model.project import Project
from evolake.programs.sandbox.harness import EVALUATOR_MODULE
from evolake.programs.sandbox.shinka import CORRECT, METRICS
from evolake.text_edits import BOM

FORGED = """
def forge(function, args, named):
{code}

_depth = [0]
def _in_front(function):
    def called(*args, **named):
        if _depth[0]:
            return function(*args, **named)
        _depth[0] += 1
        try:
            return forge(function, args, named)
        finally:
            _depth[0] -= 1
    return called
for _name in {names!r}:
    globals()[_name] = _in_front(globals()[_name])
"""
"""Puts `forge` in front of the functions that the evaluator calls; what they call of each other stays as it
is."""
CONTROL = "return function(*args, **named)"
CHANGED = "changed(function(*args, **named), lambda number: {})"
DATA_FILE = re.compile(r"['\"]([\w.-]+\.(?:json|txt|csv|npy|npz|out|log))['\"]")


@dataclass(frozen=True)
class Attack:
    """One program that may forge a score.

    name: of the attack with its values, as `--attack` takes it. kind: its class. does, change: in words.
    text: of the program. whole: it holds the initial program. group: name without values. controls: texts of
    programs without the attack, of which none may score as well."""

    name: str
    kind: str
    does: str
    change: str
    text: str = field(repr=False)
    whole: bool = True
    group: str = ""
    controls: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Target:
    """What attacks are made for.

    project: with the mode in which it is attacked. names: functions of its program that the evaluator names.
    better: a score that is far better than those of its programs. timed: the evaluator reads a clock. varied:
    the program is called with arguments that differ; None if that is not known."""

    project: Project
    names: tuple[str, ...]
    better: float
    timed: bool
    varied: bool | None


@cache
def library() -> tuple[Mapping[str, str], list[dict[str, Any]]]:
    """Return (helpers by name, attacks as they are in attacks.toml)."""
    file = resources.files("evolake.programs.audit") / "attacks.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return data["helpers"], data["attack"]


def evaluator_texts(project: Project) -> str:
    """Return the texts of the evaluator and of the modules next to it."""
    return "\n".join(
        data.decode("utf-8", "replace").removeprefix(BOM)
        for name, data in project.evaluator_files.items()
        if name.endswith(".py")
    )


def called_functions(project: Project) -> tuple[str, ...]:
    """Return the functions at the top of the program that the evaluator's texts name; of a program with an
    entry, that one. The names of a program that is run by a command are none."""
    if not project.python or project.given.program.run:
        return ()
    if project.given.program.entry:
        return (project.given.program.entry,)
    tree = parse_python(project.evolving[project.main].removeprefix(BOM))
    defined = [getattr(node, "name", "") for node in tree.body if type(node).__name__ == "FunctionDef"]
    words = set(re.findall(r"\w+", evaluator_texts(project)))
    return tuple(name for name in defined if name in words)


def attacks_on(target: Target) -> list[Attack]:
    """Return all attacks that can be made for a project, those of different classes in turn; none on a
    program that is not Python."""
    by_kind: dict[str, list[Attack]] = {}
    if not target.project.python:
        return []
    for entry in library()[1]:
        if (entry.get("timed") and not target.timed) or (entry["kind"] == "constants" and not target.varied):
            continue
        for attack in _made(entry, target):
            by_kind.setdefault(attack.kind, []).append(attack)
    turns = itertools.zip_longest(*by_kind.values())
    return [attack for turn in turns for attack in turn if attack is not None]


def in_front(project: Project, names: tuple[str, ...], code: str, top: str = "") -> str:
    """Return the initial program with `forge` in front of some of its functions. code: its body. top: code
    that runs at the end of the load."""
    body = textwrap.indent(textwrap.dedent(code).strip("\n"), "    ")
    initial = project.evolving[project.main].removeprefix(BOM)
    helpers = _helpers(code + top)
    return f"{initial.rstrip()}\n{helpers}{FORGED.format(code=body, names=names)}{top}\n"


def _helpers(code: str) -> str:
    """Return the texts of the helpers that a code calls."""
    texts = "".join(text for name, text in library()[0].items() if f"{name}(" in code)
    return Template(texts).safe_substitute(module=repr(EVALUATOR_MODULE))


def _made(entry: Mapping[str, Any], target: Target) -> Iterator[Attack]:
    values: Mapping[str, list[str]] = entry.get("values", {})
    texts = evaluator_texts(target.project)
    files = sorted({*DATA_FILE.findall(texts), METRICS, CORRECT})
    given = {
        "names": repr(target.names),
        "metric": repr(target.project.score_name),
        "better": repr(target.better),
        "module": repr(EVALUATOR_MODULE),
        "files": repr(files),
    }
    choices = (
        zip(*values.values(), strict=True) if entry.get("paired") else itertools.product(*values.values())
    )
    for number, chosen in enumerate(choices, 1):
        named = dict(zip(values, chosen, strict=True))
        if (only := entry.get("only_named")) and not re.search(
            rf"\b{named[only].rpartition('.')[2]}\s*\(", texts
        ):
            continue

        def filled(text: str, values: Mapping[str, str] = given | named) -> str:
            return Template(text).safe_substitute(values)

        top, whole = filled(textwrap.dedent(entry.get("top", ""))), "code" in entry
        if whole:
            if not target.names:
                continue
            text = in_front(target.project, target.names, filled(entry["code"]), top)
        else:
            body = textwrap.indent(filled(textwrap.dedent(entry.get("bare", ""))).strip("\n"), "    ")
            defined = [f"def {name}(*args, **named):\n{body}\n" for name in target.names if body.strip()]
            text = "\n".join([*defined, top])
        numbers = [CHANGED.format(number) for number in entry.get("control", ())]
        returned = [*numbers, *([entry["returns"]] if "returns" in entry else [])]
        without = tuple(in_front(target.project, target.names, filled(f"return {code}")) for code in returned)
        name = f"{entry['name']}-{number}" if values else entry["name"]
        does = filled(entry["does"])
        yield Attack(name, entry["kind"], does, entry["change"], text, whole, entry["name"], without)
