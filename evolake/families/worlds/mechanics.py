"""The mechanics of a family without its dress: which engine a world was drawn from and which rules are in
force (the end of its title names them), or the code of another family."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass
from functools import cache

from evolake.families.model.contract import Family
from evolake.families.model.similarity import normalised
from evolake.families.model.source_code import Unreadable, parse
from evolake.families.worlds import NAMES
from evolake.families.worlds import board_world as boards
from evolake.families.worlds import queue_world as queues
from evolake.families.worlds import runs as actions
from evolake.families.worlds.parts import by_rules
from evolake.families.worlds.puzzle_world import PUZZLES, said
from evolake.families.worlds.runs import POINTS
from evolake.program_templates import load_template

_WORLDS = "evolake.families.worlds"
_PRIMARIES = {
    "runs": f"{_WORLDS}.templates.run_simulation",
    "queues": f"{_WORLDS}.queues.templates.simulation",
    "boards": f"{_WORLDS}.boards.templates.simulation",
    "arrangements": f"{_WORLDS}.templates.search",
}
"""Engine -> template of its primary, whose docstring every family of the engine has, in whatever words its
statement is."""
OWN = "own"
"""The engine of a family that is no world: its own programs."""


@dataclass(frozen=True)
class Mechanics:
    """engine: of a world, or OWN. rules: hash of the rules in force and of what is asked; of a family with
    its own programs, of its primary."""

    engine: str
    rules: str

    @property
    def unit(self) -> str:
        """What a split keeps together: the whole engine of a world, the code of another family."""
        return f"engine {self.engine}" if self.engine != OWN else f"code {self.rules}"


def mechanics_of(family: Family) -> Mechanics:
    """Return the mechanics of a family without parents. Names, words and numbers of instances are no part of
    them."""
    tree = _tree(family.validator)
    engine = (
        _engines().get(ast.get_docstring(tree) or "")
        if tree is not None and family.operator in NAMES
        else None
    )
    if engine is None or tree is None:
        return Mechanics(OWN, _sha(normalised(family.validator)))
    known = set(_shown_keys(tree))
    if engine == "arrangements":
        if "weights" in known:
            engine = "selections"
        elif "room" in known:
            engine = "groups"
        else:
            engine = "orders"
    functions = sorted(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    shown = next(
        node
        for name in ("shown", "solution")
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    kinds = functions if engine in ("orders", "groups", "selections") else []
    asked = ast.dump(shown.body[-1])
    return Mechanics(
        engine, _sha([engine, sorted((point.name, point.chosen) for point in family.points), kinds, asked])
    )


@cache
def _engines() -> dict[str, str]:
    """Return the docstring of an engine's primary -> its name."""
    sources = {name: load_template(template) for name, template in _PRIMARIES.items()}
    sources |= {puzzle.name: puzzle.programs["primary"] for puzzle in PUZZLES}
    return {source.split('"""')[1]: name for name, source in sources.items()}


def _shown_keys(tree: ast.Module) -> list[str]:
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _tree(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except Unreadable:
        return None


def _sha(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode("utf-8", "replace")).hexdigest()[:16]


NAMED = {*POINTS, *queues.POINTS, *boards.POINTS, *(point for puzzle in PUZZLES for point in puzzle.rules)}
"""Mutation points whose rules the titles of process and puzzle worlds name."""


def rules_of(family: Family) -> str:
    """Return the end of the title of a process or puzzle world, of a switched one as well; "" for any other
    family."""
    for points, labels in (
        (POINTS, actions.labels),
        (queues.POINTS, queues.labels),
        (boards.POINTS, boards.labels),
    ):
        chosen = [point.chosen for point in family.points if point.name in points]
        try:
            if chosen:
                return by_rules(labels(chosen))
        except KeyError:
            continue
    now = {point.name: point.chosen for point in family.points}
    for puzzle in PUZZLES:
        if now.keys() == puzzle.rules.keys():
            for theme in puzzle.themes:
                if family.title.startswith(f"{theme['title']}: "):
                    return by_rules(
                        said(item.label, theme)
                        for point, alike in puzzle.rules.items()
                        for item in alike
                        if item.name == now[point]
                    )
    return ""
