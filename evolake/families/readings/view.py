"""A family as the examiners of readings see it: sentences with numbered slots, instances with labels, and
which input a slot states."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.model.contract import Family
from evolake.families.model.sentences import sentences
from evolake.families.model.statement import QUESTION_LINE, SLOT, split_question, stated
from evolake.families.model.syntax import Unreadable, parse
from evolake.families.sandbox.running import Instance, Solved

KeyPath = tuple[str, ...]


@dataclass(frozen=True)
class NumberSlot:
    """A slot that states an integer of the inputs. offset: the input less the number in the text."""

    slot: int
    path: KeyPath
    offset: int


@dataclass(frozen=True)
class FamilyView:
    """instances, labels: those of the sample that are ok. few: of these, the ones that probes change. trees:
    of the voters that can be parsed."""

    family: Family
    sentences: tuple[str, ...]
    question: str
    instances: tuple[Instance, ...]
    labels: tuple[Any, ...]
    few: tuple[int, ...]
    numbers: Mapping[int, NumberSlot]
    trees: Mapping[str, ast.Module]

    def same(self, answer: Any, other: Any) -> bool:
        """Return whether two answers are one."""
        return equivalent(answer, other, case_sensitive=self.family.answer.case_sensitive)

    def lists(self) -> list[KeyPath]:
        """Return the paths that hold a list in every instance, of which one has two elements."""
        found = [path for path, value in leaves(self.instances[0].inputs) if isinstance(value, list)]
        values = {path: [at(item.inputs, path) for item in self.instances] for path in found}
        return [
            path
            for path in found
            if all(isinstance(item, list) for item in values[path]) and max(map(len, values[path])) > 1
        ]

    @property
    def text(self) -> str:
        """The whole statement, slots as #1, #2."""
        return " ".join(self.sentences)

    def matching(self, expression: str) -> list[str]:
        """Return the sentences in which the expression is found."""
        return [sentence for sentence in self.sentences if re.search(expression, sentence, re.IGNORECASE)]


def view_of(
    family: Family, instances: Sequence[Instance], answers: Sequence[Solved], few: int
) -> FamilyView | None:
    """Return the view, None if no instance has a label."""
    good = [
        (item, solved)
        for item, solved in zip(instances, answers, strict=True)
        if item.status == solved.status == "ok"
    ]
    if not good:
        return None
    kept = tuple(item for item, _ in good)
    order = sorted(range(len(good)), key=lambda number: (good[number][0].difficulty > 5, number % 4, number))
    trees = {}
    for name, source in family.voters().items():
        try:
            trees[name] = parse(source)
        except Unreadable:
            continue
    template = stated(family)
    shown = tuple(
        " ".join(SLOT.sub(r"#\1", item).split())
        for item in sentences(QUESTION_LINE.sub("", template))
        if re.search("[A-Za-z]", SLOT.sub("", item))
    )
    question = " ".join(SLOT.sub(r"#\1", split_question(template)[1]).split()) or (shown[-1] if shown else "")
    return FamilyView(
        family,
        shown,
        question,
        kept,
        tuple(solved.answer for _, solved in good),
        tuple(order[:few]),
        number_slots(kept),
        trees,
    )


def number_slots(instances: Sequence[Instance]) -> dict[int, NumberSlot]:
    """Return the slots that hold a number which one input always is, or is always one less or more."""
    result = {}
    paths = [path for path, value in leaves(instances[0].inputs) if type(value) is int]
    held = {path: [at(item.inputs, path) for item in instances] for path in paths}
    for slot in range(1, 1 + min(len(item.slot_texts) for item in instances)):
        texts = [item.slot_texts[slot - 1].strip() for item in instances]
        if not all(re.fullmatch(r"-?\d{1,12}", text) for text in texts) or len(set(texts)) < 2:
            continue
        for offset in (0, -1, 1):
            fitting = [path for path in paths if held[path] == [int(text) + offset for text in texts]]
            if len(fitting) == 1:
                result[slot] = NumberSlot(slot, fitting[0], offset)
                break
    return result


def leaves(inputs: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield (path, value) of everything in nested mappings that is no mapping."""
    if isinstance(inputs, dict):
        for key, value in inputs.items():
            yield from leaves(value, (*path, key))
    else:
        yield path, inputs


def at(inputs: Any, path: KeyPath) -> Any:
    """Return what the path leads to, None if it leads nowhere."""
    for key in path:
        inputs = inputs.get(key) if isinstance(inputs, dict) else None
    return inputs


def changed(inputs: Any, path: KeyPath, value: Any) -> Any:
    """Return a copy of the inputs in which the path holds another value."""
    result = copy.deepcopy(inputs)
    if not path:
        return value
    holder = result
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = copy.deepcopy(value)
    return result


def integers_in(value: Any) -> Iterator[int]:
    """Yield every integer in a nested value."""
    if type(value) is int:
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from integers_in(item)


def texts_in(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield (column, text): indices of lists of any length are one column, those of records inside a list are
    their own."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts_in(item, (*where, key))
    elif isinstance(value, list):
        record = bool(where) and where[-1] == "*"
        for number, item in enumerate(value):
            yield from texts_in(item, (*where, number if record else "*"))
