"""Change one thing of a family, to see whether it matters: in the sources a number, a rule's alternative, a
function's work; in the statement a sentence or a quantity. All work on the syntax tree. What a factory of a
composed family holds (see contract) was its parent's, and was looked at there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evolake.families.model.contract import Family
from evolake.families.model.source_code import Unreadable, parse
from evolake.families.model.statement import QUESTION_LINE, SLOT, fill, stated
from evolake.families.model.wording import (
    WORDS,
    Quantity,
    quantities,
    spans,
    without_asides,
    without_plain_facts,
)
from evolake.parsing import parse_python
from evolake.program_templates import load_template

ENTRIES = frozenset({"input", "solution", "read"})


def whole_numbers(source: str) -> set[int]:
    """Return the integers that are in the source, and how many elements its written collections have; empty
    where it cannot be parsed."""
    tree = _tree(source)
    if tree is None:
        return set()
    result: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            result.add(node.value)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            result.add(len(node.elts))
        elif isinstance(node, ast.Dict):
            result.add(len(node.keys))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            result.add(len(node.value))
    return result


def with_number(source: str, value: int) -> str | None:
    """Return the source with one more in every place where `value` is an integer; None where it is
    nowhere."""
    tree = _tree(source)
    if tree is None:
        return None
    places = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value == value
    ]
    for node in places:
        node.value = value + 1
    return ast.unparse(tree) + "\n" if places else None


def helpers(source: str) -> list[str]:
    """Return the functions next to the entry that are called by name, those of factories left out. One that
    is looked up in a table may belong to another alternative of a rule than the one in force.
    """
    tree = _tree(source)
    return [] if tree is None else [node.name for node in _functions(tree)]


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    used = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.name in used - ENTRIES
            and not node.name.startswith("part")
        ):
            yield node


def _tree(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except Unreadable:
        return None


TURNED = load_template("evolake.families.gates.templates.turned")
"""Sorting and choosing that keep the first part of a key only, and take equals in the opposite order."""


class _Turning(ast.NodeTransformer):
    """Puts those in place of sorted, min and max that have a key or take tuples, and cuts tuples in keys down
    to their first part."""

    def __init__(self) -> None:
        self.changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("sorted", "min", "max"):
            self.changed = True
            node.func.id = f"_turned_{node.func.id}"
            self._cut(node)
        return self._last_place(node)

    @staticmethod
    def _last_place(node: ast.Call) -> ast.AST:
        """For `items.index(max(...))` the last place in place of the first."""
        function, best = node.func, node.args[0] if len(node.args) == 1 else None
        if not (
            isinstance(function, ast.Attribute) and function.attr == "index" and isinstance(best, ast.Call)
        ):
            return node
        if not (isinstance(best.func, ast.Name) and best.func.id in ("_turned_min", "_turned_max")):
            return node
        return ast.Call(func=ast.Name("_turned_index", ast.Load()), args=[function.value, best], keywords=[])

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "sort"
            and isinstance(call.func.value, ast.Name)
        ):
            self.changed = True
            self._cut(call)
            items = call.func.value
            turned = ast.Call(
                func=ast.Name("_turned_sorted", ast.Load()), args=[items], keywords=call.keywords
            )
            target = ast.Subscript(value=ast.Name(items.id, ast.Load()), slice=ast.Slice(), ctx=ast.Store())
            return ast.Assign(targets=[target], value=turned)
        return node

    @staticmethod
    def _cut(call: ast.Call) -> None:
        for keyword in call.keywords:
            if (
                keyword.arg == "key"
                and isinstance(keyword.value, ast.Lambda)
                and isinstance(keyword.value.body, ast.Tuple)
            ):
                keyword.value.body = keyword.value.body.elts[0]


def with_ties_turned(source: str) -> str | None:
    """Return the source in which equals are taken in the opposite order; None if nothing is sorted or
    chosen."""
    tree = _tree(source)
    if tree is None:
        return None
    turning = _Turning()
    tree = turning.visit(tree)
    if not turning.changed:
        return None
    start = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    docstring = bool(tree.body) and isinstance(tree.body[0], ast.Expr)
    tree.body[start + docstring : start + docstring] = parse_python(TURNED).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


LEAST = 2
"""A smaller number ("numbered from 1") says nothing that could be another."""
MOST_SENTENCES = 40
MOST_WORDS = 500
_WORD = re.compile(r"[^\W\d_\u4e00-\u9fff]+|[\u4e00-\u9fff]{1,2}")
_EXAMPLE = re.compile(r"[\"“‘`\[][^\"”’`\]\n]*\d[^\"”’`\]\n]*[\"”’`\]]")
_RUN = re.compile(r"\d+,\s*\d+,\s*(?:\d+,\s*)*(?:\.\.\.|…)|\b\w+ \d+, \w+ \d+, (?:\.\.\.|…)")
_PLACE = re.compile(r"^\s*\(?\d{1,3}[.)]\s", re.MULTILINE)
_AS_WORD: dict[int, str] = {}
for _word, _number in WORDS.items():
    if _word not in ("twice", "both", "dozen"):
        _AS_WORD.setdefault(_number, _word)


@dataclass(frozen=True)
class Change:
    """One change of the template. kind: "sentence", "quantity" or "word". what: the sentence that is gone, or
    the one that the quantity is in."""

    kind: str
    what: str
    template: str
    value: int = 0


def text_changes(family: Family) -> list[Change]:
    """Return each sentence gone, and each fixed quantity another, one at a time."""
    template = stated(family)
    result: list[Change] = []
    for start, end in spans(template)[:MOST_SENTENCES]:
        sentence = template[start:end]
        if QUESTION_LINE.fullmatch(sentence) or not any(
            character.isalpha() for character in SLOT.sub("", sentence)
        ):
            continue
        result.append(Change("sentence", sentence, template[:start] + template[end:]))
        for quantity in fixed_quantities(sentence, template[end:].split("\n")[1:]):
            other = sentence[: quantity.start] + another(quantity) + sentence[quantity.end :]
            result.append(
                Change("quantity", sentence, template[:start] + other + template[end:], quantity.value)
            )
    return result


def word_changes(family: Family) -> list[Change]:
    """Return each word of each sentence gone, one at a time. `what` is the sentence, with the word between
    asterisks."""
    template = stated(family)
    return [
        Change("word", shown, template[:start] + template[end:])
        for start, end, shown in word_places(template)
    ]


def word_places(template: str) -> list[tuple[int, int, str]]:
    """Return (start, end, sentence with the word between asterisks) of each word that the template itself
    says; of Chinese, two characters are a word."""
    result = []
    for start, end in spans(template)[:MOST_SENTENCES]:
        sentence = template[start:end]
        if not QUESTION_LINE.fullmatch(sentence):
            for word in _WORD.finditer(SLOT.sub(lambda match: " " * len(match[0]), sentence)):
                first, last = word.span()
                result.append(
                    (start + first, start + last, f"{sentence[:first]}*{word[0]}*{sentence[last:]}")
                )
    return result[:MOST_WORDS]


def fixed_quantities(sentence: str, following: Sequence[str] = ()) -> list[Quantity]:
    """Return the quantities that the sentence itself says: not those of slots, examples, asides, plain facts
    such as dates, and of runs as "1, 2, 3,
    ...".

    following: the lines after the sentence, which may be the list that a number counts.
    """
    bare = SLOT.sub(lambda match: " " * len(match[0]), sentence)
    if _EXAMPLE.search(bare):
        return []
    for expression in (_RUN, _PLACE):
        bare = expression.sub(lambda match: " " * len(match[0]), bare)
    return [
        quantity
        for quantity in quantities(without_asides(without_plain_facts(bare, following)))
        if quantity.value >= LEAST
    ]


def another(item: Quantity) -> str:
    """Return another number in its place."""
    return _AS_WORD.get(item.value + 1, "seventeen") if item.word else str(item.value + 1)


def slot_changes(template: str, slot_texts: Sequence[str], ways: Sequence[int]) -> list[tuple[int, str]]:
    """Return (slot from 1 on, statement in which its number is another) for each slot that is a single
    number. ways: one more, half as much, one less, twice as much, by their places in this list; below 4."""
    result = []
    for slot, text in enumerate(slot_texts, start=1):
        if re.fullmatch(r"\s*\d{1,12}\s*", text):
            value = int(text)
            others = (value + 1, value // 2, value - 1, 2 * value) if value else (1, 2, 3, 4)
            for other in dict.fromkeys(str(others[way]) for way in ways):
                result.append((slot, fill(template, [*slot_texts[: slot - 1], other, *slot_texts[slot:]])))
    return result


def sentence_of_slot(template: str, slot: int) -> str:
    """Return the sentence that a slot is in, with # for every slot; the one before it where it is the whole
    of a sentence."""
    before = ""
    for start, end in spans(template):
        shown = " ".join(SLOT.sub("#", template[start:end]).split())
        bare = shown if any(character.isalpha() for character in shown) else before
        if str(slot) in SLOT.findall(template[start:end]):
            return bare
        before = bare
    return ""
