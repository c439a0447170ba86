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
from evolake.families.worlds.constraint_world import ARRANGEMENTS
from evolake.families.worlds.engine_files import by_rules, said
from evolake.families.worlds.process_world import PROCESSES
from evolake.families.worlds.puzzle_world import PUZZLES

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
    own = Mechanics(OWN, _sha(normalised(family.validator)))
    try:
        tree = parse(family.validator)
    except Unreadable:
        return own
    engine = _engines().get(ast.get_docstring(tree) or "")
    if engine is None or family.operator not in NAMES:
        return own
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
    """Return the docstring of an engine's primary, which every family of the engine has in whatever words its
    statement is -> its name."""
    return {engine.programs["primary"].split('"""')[1]: engine.name for engine in (*ENGINES, ARRANGEMENTS)}


def _shown_keys(tree: ast.Module) -> list[str]:
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _sha(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode("utf-8", "replace")).hexdigest()[:16]


ENGINES = (*PROCESSES.values(), *PUZZLES)
NAMED = {point for engine in ENGINES for point in engine.rules}
"""Mutation points whose rules the titles of process and puzzle worlds name."""


def rules_of(family: Family) -> str:
    """Return the end of the title of a process or puzzle world, of a switched one as well; "" for any other
    family."""
    now = {point.name: point.chosen for point in family.points}
    for engine in ENGINES:
        known = {(point, rule.name): rule for point, alike in engine.rules.items() for rule in alike}
        themes = [theme for theme in engine.themes if family.title.startswith(f"{theme['title']}: ")]
        if themes and now and now.items() <= known.keys():
            return by_rules(said(known[item].label, themes[0]) for item in now.items())
    return ""
