"""One after the other or all at the same time: a changed validator reads what was before, or what has
become."""

from __future__ import annotations

import ast
import copy
import re
from typing import Any

from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted, source_of
from evolake.parsing import parse_python

SAME_TIME, IN_TURN = "all at the same time", "one after the other"


def simultaneous(view: FamilyView) -> Examiner:
    """Examine whether all change at the same time, or each sees what those before it became."""
    together = view.matching(
        r"\bat the same (?:time|moment|instant)|\bsimultaneous|\ball at once|\ball together\b|\bin the "
        r"same (?:instant|moment)|\bbased on the (?:old|previous)|\bas (?:they|it) (?:were|was) before\b|"
        r"\bfrom the (?:old|previous) (?:values|state|row)|\b(?:nobody|no one|none|not|never|cannot|"
        r"can't)\b[^.]{0,60}\b(?:with|in|during|at|on) (?:this|the|that) same\b|\bwhat (?:it|he|she|they|"
        r"each|everybody) (?:had|held|was|were)\b[^.]{0,20}\bbefore\b|\bonly (?:after|when) (?:all|"
        r"everybody)\b|\bin parallel\b|\bas one\b"
    )
    acts = r"(?=.*\b(?:giv|pass|chang|switch|updat|becom|mov|take|add|do so|look|see)\w*)"
    in_turn = view.matching(
        acts + r".*(?:\bone after (?:the other|another)|\bin turn\b|\bone by one\b|"
        r"\balready (?:changed|updated|new|received|been)|\bbefore the next (?:\w+ )?"
        r"(?:does|gives|acts|moves|begins)|\bfrom left to right, each|\bsequential)"
    )
    if not together and not in_turn:
        yield Wanted()
        return []
    options = [
        (side, source)
        for tree in view.trees.values()
        for side, source in ((IN_TURN, _snapshot(tree)), (SAME_TIME, _aliased(tree)))
        if source
    ]
    given = yield Wanted((), [source for _, source in options])
    counts: dict[str, int] = {}
    for (side, _), decided in zip(options, given.decided, strict=True):
        counts[side] = max(decided, counts.get(side, 0))
    does = [side for side, count in counts.items() if count]
    if len(does) != 1 or bool(together) == bool(in_turn):
        return []
    says, sentence = (SAME_TIME, together[0]) if together else (IN_TURN, in_turn[0])
    verdict = "fixed" if says == does[0] else "contradicted"
    return [
        ReadingPlace(
            "at the same time or in turn", sentence, says, does[0], verdict, counts[does[0]], given.of
        )
    ]


def _snapshot(tree: ast.Module) -> str | None:
    """Return the source in which loops that read and write a list by place read it as it was before the loop;
    None if there is no such loop."""
    tree, changed = copy.deepcopy(tree), 0
    named = {
        (node.targets[0].id, node.value.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Name)
    }

    class _Reading(ast.NodeTransformer):
        def __init__(self, name: str) -> None:
            self.name = name

        def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
            self.generic_visit(node)
            if (
                isinstance(node.ctx, ast.Load)
                and isinstance(node.value, ast.Name)
                and node.value.id == self.name
            ):
                node.value = ast.Name(f"_before_{self.name}", ast.Load())
            return node

    class _Loops(ast.NodeTransformer):
        def visit_For(self, node: ast.For) -> Any:
            nonlocal changed
            inner = [item for part in node.body for item in ast.walk(part) if isinstance(item, ast.For)]
            names = {item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)}
            written = {
                item.value.id
                for part in node.body
                for item in ast.walk(part)
                if isinstance(item, ast.Subscript)
                and isinstance(item.ctx, ast.Store)
                and isinstance(item.value, ast.Name)
                and names & {name.id for name in ast.walk(item.slice) if isinstance(name, ast.Name)}
            }
            read = {
                item.value.id
                for part in node.body
                for item in ast.walk(part)
                if isinstance(item, ast.Subscript)
                and isinstance(item.ctx, ast.Load)
                and isinstance(item.value, ast.Name)
            }
            both = sorted(written & (read | {second for first, second in named if first in read}))
            if inner or not both:
                self.generic_visit(node)
                return node
            changed += 1
            both += sorted({first for first, second in named if second in both and first in read} - set(both))
            for name in both:
                node.body = [_Reading(name).visit(part) for part in node.body]
            copies = [
                parse_python(
                    f"_before_{name} = list({name}) if isinstance({name}, list) else dict({name})"
                ).body[0]
                for name in both
            ]
            return [*copies, node]

    tree = _Loops().visit(tree)
    return source_of(tree) if changed else None


def _aliased(tree: ast.Module) -> str | None:
    """Return the source in which a copy of a list is the list itself, and a list made of its old self is made
    place by place; None without one."""
    tree, changed = copy.deepcopy(tree), 0
    assigned = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    class _Aliasing(ast.NodeTransformer):
        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            nonlocal changed
            target, value = node.targets[0], node.value
            if not isinstance(target, ast.Name):
                return node
            match = re.fullmatch(
                r"(?:list|dict|copy\.copy|copy\.deepcopy|deepcopy)\((\w+)\)|(\w+)\[:\]|\[\*(\w+)\]|"
                r"(\w+)\.copy\(\)",
                ast.unparse(value),
            )
            name = next((item for item in match.groups() if item), "") if match else ""
            if name and name in assigned and name != target.id:
                changed += 1
                node.value = ast.Name(name, ast.Load())
                return node
            if isinstance(value, ast.ListComp) and len(value.generators) == 1:
                clause = value.generators[0]
                used = {item.id for item in ast.walk(value.elt) if isinstance(item, ast.Name)}
                if (
                    isinstance(clause.target, ast.Name)
                    and not clause.ifs
                    and target.id in used
                    and ast.unparse(clause.iter).startswith("range(")
                ):
                    changed += 1
                    store = ast.Assign(
                        [ast.Subscript(ast.Name(target.id, ast.Load()), clause.target, ast.Store())],
                        value.elt,
                    )
                    loop = ast.For(ast.Name(clause.target.id, ast.Store()), clause.iter, [store], [])
                    store.targets[0].slice = ast.Name(clause.target.id, ast.Load())  # type: ignore[attr-defined]
                    return loop
            return node

    tree = _Aliasing().visit(tree)
    return source_of(tree) if changed else None
