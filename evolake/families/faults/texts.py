"""Faults of text against code: what is said and what is done part company, and every program of the family
continues agreeing with every other. Sources are changed by a wrapper around the whole module, so that it fits
any family, or by new names for its variables.

A family has no sentences that could be declared for it, so two classes are planted into the family with all
its sentences declared (model.sentences): what they measure is the declaration.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from evolake.families.gates.changes import fixed_quantities, whole_numbers
from evolake.families.model.contract import MAX_SOURCE_BYTES, Family
from evolake.families.model.source_code import NotComposable, Unreadable, compose, factory, parse, switch
from evolake.families.model.statement import (
    QUESTION_LINE,
    RULE,
    SLOT,
    join_question,
    slots,
    split_question,
    stated,
)
from evolake.families.model.wording import ALWAYS, DECLARATION, WORDS, says_order_of_equals, sentences, spans
from evolake.families.operators.of_families import aggregate
from evolake.parsing import parse_python
from evolake.program_templates import fill_template, load_template
from evolake.seeds import generator as random_of

_TEMPLATES = "evolake.families.faults.templates"
WRONG, FORGED = (load_template(f"{_TEMPLATES}.{name}") for name in ("wrong", "forged"))
"""Heads of `answers`: `wrong(answer, by)`; `forged()`, which books more work from one instance to the next in
the driver's own books."""
Wrapper = Callable[[str], str]


def answers(expression: str, head: str = "") -> Wrapper:
    """Return a validator around a validator: `expression` over `answer` and `inputs`, with `head` before
    it."""
    glue = fill_template(f"{_TEMPLATES}.solve", head=f"{head}\n", expression=expression)
    return lambda source: compose([factory("part", source, "solution")], glue)


def primary(family: Family, wrapper: Wrapper) -> Family:
    """Return the primary validator in a wrapper."""
    return replace(family, validator=wrapper(family.validator))


def independent(family: Family, wrapper: Callable[[int], Wrapper]) -> Family:
    """Return each independent validator in its own wrapper, numbered from 1."""
    return replace(
        family,
        validators={
            name: wrapper(number)(source)
            for number, (name, source) in enumerate(family.validators.items(), start=1)
        },
    )


def every_voter(family: Family, wrapper: Wrapper) -> Family:
    """Return the primary validator and each independent one in the same wrapper."""
    return independent(primary(family, wrapper), lambda number: wrapper)


def generator(family: Family, body: str) -> Family:
    """Return the generator around itself: `body` returns, and may call `make(difficulty)`."""
    glue = fill_template(f"{_TEMPLATES}.generate", body=f"    {body}\n")
    return replace(family, generator=compose([factory("part", family.generator, "input")], glue))


def own_answer(family: Family) -> Family:
    """Return a family whose generator solves its own instance and says the answer in passing."""
    parts = [factory("part_a", family.generator, "input"), factory("part_b", family.validator, "solution")]
    return replace(family, generator=compose(parts, load_template(f"{_TEMPLATES}.leak")))


def renamed(source: str, number: int) -> str:
    """Return the source with other names of variables: the same program. Names of the language, of entries,
    constants, keywords and modules stay."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotComposable(f"cannot be parsed: {error}") from None
    stored = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    kept = (
        {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg | ast.keyword)}
        | set(dir(builtins))
        | {"input", "solution", "read"}
    )
    kept |= {
        name for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    changed = {name: f"{name}_{number}" for name in stored if name not in kept and not name.isupper()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in changed:
            node.id = changed[node.id]
    return ast.unparse(tree) + "\n"


BORDERLESS = ("steep", "shallow", "bulky", "remote", "narrow", "gentle", "slippery", "crowded")
_SAID_ORDER = re.compile(r" \(of several such cases, the lowest number\)")
LIMIT = {"en": "At most {} of them may be used.", "zh": "其中最多可用 {} 个。"}
KEY = "most_used"


def number_is_another(family: Family) -> Family:
    """Return a family with a number in the prose that is another than the code's (a week of five days, where
    the programs count seven). Rules are looked at first."""
    for changed, sentence, start, end, word in _numbers(family):
        numbers = set[int]().union(*map(whole_numbers, family.sources().values()))
        other = next(value for value in range(11, 99) if not {value - 1, value, value + 1} & numbers)
        said = {number: name for name, number in WORDS.items()}
        text = sentence[:start] + (said.get(other, str(other)) if word else str(other)) + sentence[end:]
        if changed.template.count(sentence) == 1:
            return replace(changed, template=changed.template.replace(sentence, text))
        return replace(
            changed,
            points=tuple(
                replace(
                    point,
                    alternatives=tuple(
                        replace(item, text=item.text.replace(sentence, text))
                        if item.name == point.chosen
                        else item
                        for item in point.alternatives
                    ),
                )
                for point in changed.points
            ),
        )
    raise NotComposable("the prose says no number")


def _numbers(family: Family) -> Iterator[tuple[Family, str, int, int, bool]]:
    """(family, text that holds a number, where the number is, whether it is a word): of rules, whichever
    alternative, then of the template."""
    for point in family.points:
        for item in point.alternatives:
            for quantity in fixed_quantities(item.text):
                if quantity.value > 2:
                    yield (
                        switch(family, point.name, item.name),
                        item.text,
                        quantity.start,
                        quantity.end,
                        quantity.word,
                    )
    for sentence in sentences(family.template):
        for quantity in fixed_quantities(sentence):
            if not RULE.search(sentence):
                yield family, sentence, quantity.start, quantity.end, quantity.word


def tie_unstated(family: Family) -> Family:
    """Return the family asked in several cases, for the case with the largest parity, with no word on equal
    ones, which there always are."""
    if family.language != "en" or family.answer.type != "integer" or says_order_of_equals(stated(family)):
        raise NotComposable(
            "not in English, an answer that is no whole number, or a text that speaks of equals"
        )
    for attempt in range(24):
        child = aggregate([family], random_of(0, "families", family.family_id, "tie", attempt))
        point = next(point for point in child.points if point.name == "fold")
        if point.chosen == "argmax":
            break
    else:
        raise NotComposable("no draw asked for the largest case")
    said = re.search(r"note a value for each: ([^.]*)\.", child.template)
    if said is None:
        raise NotComposable("no value is noted")
    silent = tuple(replace(item, text=_SAID_ORDER.sub("", item.text)) for item in point.alternatives)
    return replace(
        every_voter(child, _parity),
        points=tuple(replace(item, alternatives=silent) if item is point else item for item in child.points),
        template=child.template.replace(said[1], f"the remainder that {said[1]} leaves when divided by 2"),
    )


def _parity(source: str) -> str:
    """Return the source whose `measure` gives the remainder by 2 of what it gave."""
    tree = parse(source)
    for node in tree.body:
        if (
            isinstance(node, ast.FunctionDef)
            and node.name == "measure"
            and isinstance(last := node.body[-1], ast.Return)
            and last.value is not None
        ):
            last.value = ast.BinOp(left=last.value, op=ast.Mod(), right=ast.Constant(2))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def without_border(family: Family) -> Family:
    """Return a family whose question takes account of what is steep, or of some such word that has no
    border."""
    if family.language != "en":
        raise NotComposable("not in English")
    word = BORDERLESS[int(family.family_id[:8], 16) % len(BORDERLESS)]
    setting, question = split_question(family.template)
    return replace(
        family,
        template=join_question(
            f"{setting}\n\nWhatever is {word} is left out.", question or "What is the answer?"
        ),
    )


def rule_obeyed_by_no_voter(family: Family) -> Family:
    """Return a rule of the text that every voter knows and none follows: half a rule in all of them."""
    if not family.points:
        raise NotComposable("no rule is declared")
    constant = family.points[-1].constant

    def frozen(source: str) -> str:
        try:
            tree = parse(source)
        except Unreadable as error:
            raise NotComposable(str(error)) from None
        values = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == constant
        ]

        class Frozen(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.AST:
                return (
                    values[0] if node.id == constant and isinstance(node.ctx, ast.Load) and values else node
                )

        return ast.unparse(ast.fix_missing_locations(Frozen().visit(tree))) + "\n"

    return every_voter(family, frozen)


def quantity_minded_by_nobody(family: Family) -> Family:
    """Return the text limits how many may be used, the reader hands the limit on, and no voter heeds it."""
    if family.reader is None or not slots(family.template):
        raise NotComposable("no reader, or no slot")
    sentence = LIMIT[family.language]
    setting, question = split_question(family.template)
    shown = sentence.format(f"[Input Slot {max(slots(family.template)) + 1}]")
    pattern = re.escape(sentence).replace(r"\{\}", r"(\d+)")
    limit = fill_template("evolake.families.faults.templates.miscounted", key=repr(KEY))
    read = fill_template("evolake.families.faults.templates.read_limit", key=repr(KEY), pattern=repr(pattern))
    return replace(
        family,
        template=join_question(f"{setting}\n\n{shown}", question) if question else f"{setting}\n\n{shown}\n",
        generator=compose([factory("part", family.generator, "input")], limit),
        reader=compose([factory("part", family.reader, "read")], read),
    )


def declared_sentence_left_out(family: Family) -> Family:
    """Return the family with all its sentences declared, and its first one of the prose taken out."""
    whole = with_declared_sentences(family)
    for start, end in spans(whole.template):
        if _is_prose(whole.template[start:end]):
            return replace(whole, template=whole.template[:start] + whole.template[end:])
    raise NotComposable("no sentence without a slot")


def sentence_without_pattern(family: Family) -> Family:
    """Return the family with all its sentences declared, and one more in the text, which no program
    follows."""
    whole = with_declared_sentences(family)
    setting, question = split_question(whole.template)
    extra = {"en": "Whoever comes last counts double.", "zh": "最后来的算两次。"}[family.language]
    return replace(
        whole,
        template=join_question(f"{setting}\n\n{extra}", question) if question else f"{setting}\n\n{extra}\n",
    )


def with_declared_sentences(family: Family) -> Family:
    """Return the family whose reader declares each sentence of its statement, and what slots hold as
    anything; those of the prose must be there."""
    if family.reader is None:
        raise NotComposable("no reader")
    patterns: dict[str, str] = {"- {item}": ""} if _holds_lists(family) else {}
    for sentence in sentences(stated(family)):
        if not QUESTION_LINE.fullmatch(sentence) and not SLOT.fullmatch(sentence):
            patterns[SLOT.sub(lambda match: f"{{slot{match[1]}}}", sentence)] = (
                ALWAYS if _is_prose(sentence) else ""
            )
    reader = f"{DECLARATION} = {patterns!r}\n{family.reader}"
    if len(reader) > MAX_SOURCE_BYTES:
        raise NotComposable("a reader that is too long")
    return replace(family, reader=reader)


def _holds_lists(family: Family) -> bool:
    """Return whether a slot is its own line, and so may hold a list."""
    return any(SLOT.fullmatch(sentence) for sentence in sentences(stated(family)))


def _is_prose(sentence: str) -> bool:
    return (
        not SLOT.search(sentence)
        and not RULE.search(sentence)
        and not QUESTION_LINE.fullmatch(sentence)
        and "{" not in sentence
    )
