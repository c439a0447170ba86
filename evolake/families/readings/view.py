"""A family as the examiners of readings see it: sentences with numbered slots, instances with labels, which
input a slot states; and what an examination gives and may ask for: answers of the primary on changed inputs,
and of changed validators (an operator made a call of a helper). Elements that a sentence leaves out are
removed from the data, and the answers must stay the same."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolake.answers.matching import equivalent
from evolake.families.model.contract import Family
from evolake.families.model.source_code import Unreadable, parse
from evolake.families.model.statement import QUESTION_LINE, SLOT, split_question, stated
from evolake.families.model.wording import sentences
from evolake.families.sandbox.running import Instance, Solved
from evolake.parsing import parse_python

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


LEAST_PROBES = 2
"""Probes that must show a reading before anything is said of it."""
Verdict = Literal["fixed", "never decides", "ambiguous", "contradicted"]


@dataclass(frozen=True)
class ReadingPlace:
    """One place of the text that can be read in two ways.

    reading: the name in the catalogue. says: what the text fixes, "" if nothing does. does: what the programs
    do. verdict: `fixed` (text and programs agree), `never decides` (no instance distinguishes the two
    readings), `ambiguous` (the text does not say which, and instances depend on it) or `contradicted` (the
    text says one, the programs do the other). decides, of: instances that distinguish the readings, of how
    many that were tried.
    """

    reading: str
    sentence: str
    says: str
    does: str
    verdict: Verdict
    decides: int = 0
    of: int = 0

    @property
    def open(self) -> bool:
        """Whether the author should look at it."""
        return self.verdict in ("ambiguous", "contradicted")

    def to_json(self) -> dict[str, Any]:
        """Return the place as plain JSON."""
        return {
            "reading": self.reading,
            "sentence": self.sentence,
            "says": self.says,
            "does": self.does,
            "verdict": self.verdict,
            "decides": self.decides,
            "of": self.of,
        }

    def remark(self) -> str:
        """Return the place in one sentence, for the author of the family."""
        shown = f"{self.sentence!r}"[:300]
        counts = f" ({self.decides} of {self.of} instances tell the two apart)" if self.of else ""
        if self.verdict == "contradicted":
            return (
                f"{self.reading}: the text says {self.says!r}, the programs do {self.does!r}{counts}: {shown}"
            )
        if self.verdict == "ambiguous":
            return (
                f"ambiguous: {self.reading} decides {self.decides} of {self.of} instances, and no "
                f"sentence says which: {shown}"
            )
        return f"{self.reading}: {self.verdict}: {shown}"


@dataclass(frozen=True)
class Wanted:
    """What an examiner needs to know. inputs: changed inputs for the primary. sources: changed validators,
    for the instances of the sample."""

    inputs: Sequence[Any] = ()
    sources: Sequence[str] = ()


@dataclass(frozen=True)
class Given:
    """What came of it. answers: one per changed input. decided: per changed validator, how many instances it
    answers otherwise than the label."""

    answers: Sequence[Solved] = ()
    decided: Sequence[int] = ()
    of: int = 0


def compared(
    reading: str, sentence: str, says: str, does: str, decides: int = 0, of: int = 0
) -> ReadingPlace:
    """Return the place whose text fixes a reading: contradicted unless the programs do the same."""
    return ReadingPlace(
        reading, sentence, says, does, "fixed" if says == does else "contradicted", decides, of
    )


def integers(answers: Sequence[Solved]) -> list[int]:
    """Return the answers if all are integers, [] if any is not."""
    found = [solved.answer for solved in answers if solved.status == "ok" and type(solved.answer) is int]
    return found if len(found) == len(answers) else []


Examiner = Generator[Wanted, Given, list[ReadingPlace]]
"""Yields at most once what it wants, and returns what it found."""


def source_of(tree: ast.Module, helper: str = "") -> str:
    """Return the source of a changed tree. helper: source of a function, put behind the docstring and imports
    from __future__."""
    start = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    docstring = bool(tree.body) and isinstance(tree.body[0], ast.Expr)
    tree.body[start + docstring : start + docstring] = parse_python(helper).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class OperatorCalls(ast.NodeTransformer):
    """Puts a call of a helper in place of an operator of two numbers."""

    def __init__(self, operator: type[ast.operator], helper: str) -> None:
        self.operator, self.helper, self.changed = operator, helper, 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replace a binary operation by a call if it has the operator."""
        self.generic_visit(node)
        text = isinstance(node.left, ast.JoinedStr) or (
            isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        )
        if not isinstance(node.op, self.operator) or text:
            return node
        self.changed += 1
        return ast.Call(func=ast.Name(self.helper, ast.Load()), args=[node.left, node.right], keywords=[])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a call of `divmod` if the operator is the remainder."""
        self.generic_visit(node)
        if (
            self.operator is ast.Mod
            and isinstance(node.func, ast.Name)
            and node.func.id == "divmod"
            and len(node.args) == 2
        ):
            self.changed += 1
            quotient = ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1])
            rest = ast.Call(
                func=ast.Name(self.helper, ast.Load()), args=copy.deepcopy(node.args), keywords=[]
            )
            return ast.Tuple([quotient, rest], ast.Load())
        return node


def calling(tree: ast.Module, operator: type[ast.operator], helper: str, definition: str) -> str | None:
    """Return the source with the helper in place of the operator, None if it is nowhere."""
    changing = OperatorCalls(operator, helper)
    new = changing.visit(copy.deepcopy(tree))
    return source_of(new, definition) if changing.changed else None


def called_names(tree: ast.Module) -> set[str]:
    """Return the last names of everything that is called."""
    result = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                called = node.func.id
            elif isinstance(node.func, ast.Attribute):
                called = node.func.attr
            else:
                called = ""
            result.add(called)
    return result


def without_elements(
    view: FamilyView,
    named: Mapping[Any, str],
    paths: Sequence[KeyPath],
    is_meant: Callable[[Any, Any], bool],
    *,
    least: int,
) -> Examiner:
    """Examine whether answers change when the elements that a sentence leaves out are removed.

    named: value -> the sentence that leaves it out. paths: of the lists in the inputs. is_meant: whether an
    element is what a value names. least: trials of one value that are wanted before anything is concluded.
    """
    trials = []
    for value in named:
        for path in paths:
            for place in range(len(view.instances)):
                items = at(view.instances[place].inputs, path)
                kept = [item for item in items if not is_meant(item, value)]
                if 1 < len(kept) < len(items):
                    trials.append((value, place, changed(view.instances[place].inputs, path, kept)))
    given = yield Wanted([inputs for *_, inputs in trials])
    for value, sentence in named.items():
        others = [
            solved.status == "ok" and not view.same(solved.answer, view.labels[place])
            for (item, place, _), solved in zip(trials, given.answers, strict=True)
            if item == value
        ]
        if (
            len(others) >= least
            and sum(others) * 2 > len(others)
            and all(type(label) is int for label in view.labels)
        ):
            return [
                ReadingPlace(
                    "what does not count",
                    sentence,
                    f"{value} does not count",
                    f"without {value} the answer is another",
                    "contradicted",
                    sum(others),
                    len(others),
                )
            ]
    return []
