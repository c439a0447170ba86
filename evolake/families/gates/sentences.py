"""Gate 3: does every sentence count? Text is held against code by changing one of them at a time (after
mutation testing, DeMillo, Lipton and Sayward 1978, of text instead of programs).

The text: each sentence is taken out of statements, and each word; the reader must refuse, or hand on other
inputs. What it overlooks is unread: nothing but its author says that it is so. It may be none of what
operators say. A quantity of the prose must be in the code as a number that decides answers, also if the
reader takes notice of it; and a number that all validators have and that decides answers must be said.
Quantities in slots are changed too: if the reader hands the other one on and no answer ever changes, the
validators ignore it; if it makes the same inputs of a slot's text whatever that is, no answer can depend on
it. The code: each rule is switched and each function of the validators loses its work; one that changes no
answer is no rule.

If equals taken in the opposite order give another answer, the text must say who goes first; a word of degree
that something depends on must have a border. A reader may declare its sentences (model.sentences): then a
sentence without a pattern, or a declared rule that the text leaves out, shows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.answers.matching import equivalent
from evolake.families.gates.changes import (
    Change,
    helpers,
    sentence_of_slot,
    slot_changes,
    text_changes,
    whole_numbers,
    with_number,
    with_ties_turned,
    word_changes,
)
from evolake.families.gates.execution import caps_of
from evolake.families.model.contract import GENERATOR, VALIDATOR, VALIDATORS, Family, MutationPoint
from evolake.families.model.source_code import constants, set_constant, without_function
from evolake.families.model.statement import fill, stated
from evolake.families.model.wording import (
    Pattern,
    declared,
    quantities,
    said_number,
    says_order_of_equals,
    sentences,
    undefined_terms,
)
from evolake.families.operators.joining import own_text
from evolake.families.sandbox.running import Caps, Instance, Solved, read, solve
from evolake.families.settings import FamiliesSettings

TEXTS = 3
"""Instances whose statement is changed."""
ROUNDS = 8
"""Instances whose slots are changed at first; a slot that none of them minds is changed in all, so many
instances at a time."""
FIRST = 8
"""Instances that a changed source is tried on at first; only one that changes none of their answers is tried
on the others."""
CAP_S = 0.25
"""cpu seconds of one answer of a changed source, which may have no end."""
UNSAID = 5
"""Smaller numbers of the code are counted with, and say nothing; evidence leaves them out."""
CUSTOMARY = {
    7: r"week|die|dice|周|星期|礼拜",
    10: r"digit|decimal|percent|十进|位数|数字",
    12: r"clock|month|year|dozen|月|年",
    24: r"day|hour|midnight|天|小时|日",
    26: r"letter|alphabet|字母",
    30: r"month|day|月",
    60: r"hour|minute|second|clock|小时|分|秒",
    90: r"degree|angle|turn|度",
    100: r"per ?cent|%|cents|百分",
    180: r"degree|angle|turn|度",
    360: r"degree|angle|turn|度",
    365: r"year|年",
    1000: r"metre|meter|gram|litre|liter|千",
    1440: r"day|hour|minute|小时|分",
}
"""Numbers that everybody knows, and the words that say them."""


@dataclass(frozen=True)
class Probed:
    """What changed texts came to. unread: sentences that the reader overlooks. words: how many there are;
    loose: those that it overlooks, each marked in its sentence. idle: slots that no answer minds, or that
    the reader overlooks. misread: statements of which the reader hands on other inputs than the generator's.
    """

    sentences: int
    unread: tuple[str, ...]
    words: int
    loose: tuple[str, ...]
    idle: tuple[int, ...]
    misread: int = 0


@dataclass
class Trial:
    """Changed sources against the answers that there are."""

    family: Family
    instances: Sequence[Instance]
    answers: Sequence[Solved]
    pool: Any
    caps: Caps

    def matters(self, source: str | None, stop: int | None = None) -> bool:
        """Return whether the source gives another answer, or none, on some instance (of the first `stop`)."""
        return source is not None and any(
            item.status != "ok" or not same for item, same in self._again(source, stop)
        )

    def gives_another(self, source: str | None) -> bool:
        """Return whether the source gives another answer on some instance; one that it has none on says
        nothing."""
        return source is not None and any(
            item.status == "ok" and not same for item, same in self._again(source, None)
        )

    def holds(self, source: str) -> bool | None:
        """Return whether the source without a rule gives another answer; None where it gives no other, and on
        some instances none: there the rule counts, or what replaces it is no value to continue with, which
        cannot be distinguished."""
        failed, end = 0, min(FIRST, len(self.instances))
        for number, (item, same) in enumerate(self._again(source, None), start=1):
            if item.status == "ok" and not same:
                return True
            failed += item.status != "ok"
            if failed == number == end:
                return None
        return None if failed else False

    def _again(self, source: str, stop: int | None) -> Iterator[tuple[Solved, bool]]:
        """(answer, whether it is the label), the first FIRST immediately and the others only if they are
        asked for."""
        order = sorted(range(len(self.instances)), key=lambda number: (number % 5, number))[:stop]
        sensitive = self.family.answer.case_sensitive
        for part in (order[:FIRST], order[FIRST:]):
            again = (
                solve(
                    source, [self.instances[number].inputs for number in part], pool=self.pool, caps=self.caps
                )
                if part
                else []
            )
            for number, item in zip(part, again, strict=True):
                yield (
                    item,
                    item.status == "ok"
                    and equivalent(self.answers[number].answer, item.answer, case_sensitive=sensitive),
                )


def sentences_evidence(
    family: Family,
    reader: str | None,
    instances: Sequence[Instance],
    answers: Sequence[Solved],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> dict[str, Any]:
    """Return what the rules of gate 3 judge, as plain JSON. reader: the family's, or the one that was learnt.
    Raises MachineryError when the jail failed.
    """
    caps = caps_of(settings)
    good = [
        number
        for number, (instance, solved) in enumerate(zip(instances, answers, strict=True))
        if instance.status == solved.status == "ok"
    ]
    instances, answers = [instances[number] for number in good], [answers[number] for number in good]
    short = Caps(cpu_s=min(caps.cpu_s, CAP_S), call_s=caps.call_s, memory_mb=caps.memory_mb)
    trial = Trial(family, instances, answers, pool, short)
    probed = probe_texts(family, reader, instances, answers, pool=pool, caps=caps, short=short)
    shown = [stated(family), *(item.text for item in spread(instances, TEXTS))]
    joined, own = own_text(stated(family))
    operators_own = set(sentences(own)) if joined else set()
    turned = [
        name for name, source in family.voters().items() if trial.gives_another(with_ties_turned(source))
    ]
    return {
        "made_by": family.operator,
        "has_reader": reader is not None,
        "sentences": probed.sentences,
        "unread": list(probed.unread),
        "words": probed.words,
        "loose": list(probed.loose),
        "misread": probed.misread,
        "unread_own": [
            item for item in (*probed.unread, *probed.loose) if item.replace("*", "") in operators_own
        ],
        "unbacked": unbacked(
            family, [change for change in text_changes(family) if change.kind == "quantity"], trial.matters
        ),
        "unsaid": unsaid(family, instances, trial.matters),
        "idle": [[slot, sentence_of_slot(stated(family), slot)] for slot in probed.idle],
        "dead": dead_rules(family, trial),
        "dead_functions": dead_functions(family, trial.matters),
        "ties": turned,
        "order_of_equals": any(map(says_order_of_equals, shown)),
        "vague": [
            list(pair) for pair in dict.fromkeys(pair for text in shown for pair in undefined_terms(text))
        ]
        if family.language == "en"
        else [],
        "declared": declared_evidence(family, instances, trial),
    }


def probe_texts(
    family: Family,
    reader: str | None,
    instances: Sequence[Instance],
    answers: Sequence[Solved],
    *,
    pool: Any,
    caps: Caps,
    short: Caps,
) -> Probed:
    """Return changed statements through the reader, and what it hands on through an independent validator."""
    whole = [change for change in text_changes(family) if change.kind == "sentence"]
    words = word_changes(family)
    if reader is None or not instances:
        return Probed(
            len(whole),
            tuple(change.what for change in whole),
            len(words),
            tuple(change.what for change in words),
            (),
        )
    shown = spread(instances, TEXTS)
    plain = spread(instances, ROUNDS)
    again = read(reader, [item.text for item in plain], pool=pool, caps=caps)
    misread = sum(reading.inputs != item.inputs for reading, item in zip(again, plain, strict=True))
    element = shown[-1]
    again = read(
        reader, [fill(change.template, element.slot_texts) for change in words], pool=pool, caps=caps
    )
    loose = [
        change.what
        for change, reading in zip(words, again, strict=True)
        if reading.status == "ok" and reading.inputs == element.inputs
    ]
    readings = read(
        reader,
        [fill(change.template, item.slot_texts) for change in whole for item in shown],
        pool=pool,
        caps=caps,
    )
    overlooked = []
    for number, change in enumerate(whole):
        seen = zip(shown, readings[number * len(shown) : (number + 1) * len(shown)], strict=True)
        if all(reading.status == "ok" and reading.inputs == item.inputs for item, reading in seen):
            overlooked.append(change)
    first = spread(list(zip(instances, answers, strict=True)), ROUNDS)
    idle = idle_slots(family, reader, first, None, pool=pool, caps=short)
    solved, parts = list(zip(instances, answers, strict=True)), -(-len(instances) // ROUNDS)
    for part in range(parts):
        idle = idle and idle_slots(family, reader, solved[part::parts], idle, pool=pool, caps=short)
    idle |= unread_slots(family, reader, spread(instances, ROUNDS), pool=pool, caps=caps)
    return Probed(
        len(whole),
        tuple(change.what for change in overlooked),
        len(words),
        tuple(loose),
        tuple(sorted(idle)),
        misread,
    )


def unread_slots(
    family: Family, reader: str, instances: Sequence[Instance], *, pool: Any, caps: Caps
) -> set[int]:
    """Return the slots of which the reader makes the same inputs whichever instance their text is from: no
    answer can depend on them. One that repeats what other slots say, such as how many lines follow, is
    none."""
    template, wanted, texts = stated(family), [], []
    for item, other in zip(instances, [*instances[1:], *instances[:1]], strict=True):
        for slot, (own, foreign) in enumerate(zip(item.slot_texts, other.slot_texts, strict=False), start=1):
            if own != foreign:
                changed = [*item.slot_texts[: slot - 1], foreign, *item.slot_texts[slot:]]
                wanted.append((slot, own, item.inputs))
                texts.append(fill(template, changed))
    readings = read(reader, texts, pool=pool, caps=caps) if texts else []
    noticed = {
        slot
        for (slot, _, inputs), reading in zip(wanted, readings, strict=True)
        if reading.status != "ok" or reading.inputs != inputs
    }
    always = {
        slot: set.intersection(*(_words_of(own) for other, own, _ in wanted if other == slot))
        for slot in {slot for slot, *_ in wanted}
    }
    new = {slot for slot, own, inputs in wanted if not _words_of(own) - always[slot] <= _words_of(inputs)}
    return new - noticed


_WORD = re.compile(r"\w+")


def _words_of(inputs: Any) -> set[str]:
    """Return the words and numbers of a text or of inputs, the sizes of collections among them."""
    words, waiting = set[str](), [inputs]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list | dict):
            words.add(str(len(item)))
            waiting.extend(item)
            waiting.extend(item.values() if isinstance(item, dict) else ())
        else:
            words.update(_WORD.findall(str(item).lower()))
    return words


def idle_slots(
    family: Family,
    reader: str,
    solved: Sequence[tuple[Instance, Solved]],
    among: set[int] | None,
    *,
    pool: Any,
    caps: Caps,
) -> set[int]:
    """Return the slots whose number the reader always hands on as another, and an independent validator never
    minds. among: only these, in every way; None: all, in one way an instance. A slot of `among` that has no
    number in these instances stays."""
    template = stated(family)
    changed = [
        (item, answer, slot, text)
        for turn, (item, answer) in enumerate(solved)
        for slot, text in slot_changes(template, item.slot_texts, [turn % 3] if among is None else range(4))
        if among is None or slot in among
    ]
    readings = read(reader, [text for *_, text in changed], pool=pool, caps=caps) if changed else []
    minded = {
        slot
        for (item, _, slot, _), reading in zip(changed, readings, strict=True)
        if reading.status != "ok" or reading.inputs == item.inputs
    }
    handed = [
        (answer, slot, reading.inputs)
        for (_, answer, slot, _), reading in zip(changed, readings, strict=True)
        if slot not in minded
    ]
    source = next(iter(family.validators.values()), family.validator)
    again = solve(source, [inputs for *_, inputs in handed], pool=pool, caps=caps) if handed else []
    for (answer, slot, _), element in zip(handed, again, strict=True):
        if element.status != "ok" or not equivalent(
            answer.answer, element.answer, case_sensitive=family.answer.case_sensitive
        ):
            minded.add(slot)
    return ({slot for *_, slot, _ in changed} if among is None else among) - minded


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """So many of the items, evenly from first to last."""
    return [items[number * (len(items) - 1) // max(count - 1, 1)] for number in range(min(count, len(items)))]


def unbacked(
    family: Family, said: Sequence[Change], matters: Callable[[str | None], bool]
) -> list[list[Any]]:
    """Return [number, sentence] for each of these quantities of the prose that no number of the code
    holds."""
    made = whole_numbers(family.generator)
    held = {source: whole_numbers(source) for source in family.voters().values()}
    known: dict[int, bool] = {}
    for change in said:
        if change.value not in known:
            written = [source for source, numbers in held.items() if change.value in numbers]
            counted = change.value in made or any(
                with_number(source, change.value) is None for source in written
            )
            counted = counted or (change.value < 3 and bool(written))
            known[change.value] = counted or any(
                matters(with_number(source, change.value)) for source in written
            )
    return [[change.value, change.what] for change in said if not known[change.value]]


def unsaid(family: Family, instances: Sequence[Instance], matters: Callable[[str | None], bool]) -> list[int]:
    """Return the numbers that every voter has, that decide answers, and that the statement says nowhere."""
    common = set.intersection(
        *(
            {value for value in whole_numbers(source) if value >= UNSAID}
            for source in family.voters().values()
        )
    )
    text = " ".join([stated(family), *(item.text for item in spread(instances, TEXTS))])
    said = {quantity.value for quantity in quantities(text)} | {
        int(result) for result in re.findall(r"\d{1,12}", text)
    }
    open_numbers = [
        value
        for value in sorted(common - said)
        if not (value in CUSTOMARY and re.search(CUSTOMARY[value], text, re.IGNORECASE))
        and not {value - 1, value + 1} & said
    ]
    return [value for value in open_numbers[:8] if matters(with_number(family.validator, value))]


def dead_rules(family: Family, trial: Trial) -> list[list[str]]:
    """Return [name, words in force] of each rule that no voter minds, whichever alternative is in force."""
    return [
        [point.name, point.alternative().text] for point in family.points if not _alive(family, point, trial)
    ]


def _alive(family: Family, point: MutationPoint, trial: Trial) -> bool:
    """Return whether some voter minds the rule; the independent ones are asked on a few instances only, for
    they agree with the primary."""
    files = {
        VALIDATOR: family.validator,
        **{f"{VALIDATORS}/{name}.py": source for name, source in family.validators.items()},
    }
    for file, source in files.items():
        others = [
            set_constant(source, point.constant, item.expression(file))
            for item in point.alternatives
            if item.name != point.chosen
        ]
        if any(trial.matters(other, None if file == VALIDATOR else FIRST) for other in others):
            return True
    return False


def dead_functions(family: Family, matters: Callable[[str | None], bool]) -> list[str]:
    """Return the functions of the primary that can lose their work without any answer changing."""
    result = []
    for name in helpers(family.validator)[:6]:
        if not any(
            matters(without_function(family.validator, name, gives)) for gives in ("None", "True", "False")
        ):
            result.append(f"{name}()")
    return result


def declared_evidence(family: Family, instances: Sequence[Instance], trial: Trial) -> dict[str, Any] | None:
    """Return what comes of the patterns that the reader declares; None where it declares none."""
    try:
        patterns = declared(family.reader)
    except ValueError as error:
        return {
            "malformed": str(error),
            "leftover": [],
            "missing": [],
            "other_values": [],
            "without_code": [],
        }
    if patterns is None:
        return None
    said = {pattern: [] for pattern in patterns}
    leftover: dict[str, None] = {}
    for item in spread(instances, TEXTS):
        for sentence in sentences(item.text):
            fitting = [
                (pattern, values) for pattern in patterns if (values := pattern.values(sentence)) is not None
            ]
            if not fitting:
                leftover[sentence] = None
            for pattern, values in fitting:
                said[pattern].append(values)
    code = {name: constants(source) for name, source in family.sources().items() if name != GENERATOR}
    other = []
    for pattern, values in said.items():
        for constant, given in itertools.product(pattern.constants, values):
            held = {result[constant] for result in code.values() if constant in result}
            if held != {str(said_number(given[constant]))}:
                other.append(
                    f"{constant} is {' or '.join(sorted(held)) or 'nowhere'} in the code, the text says "
                    f"{given[constant]!r}"
                )
    rules = {
        pattern.holder
        for pattern in patterns
        if pattern.holder and (pattern.needed or said[pattern] or _said(pattern, instances))
    }
    return {
        "malformed": "",
        "leftover": list(leftover),
        "missing": [pattern.text for pattern in patterns if pattern.needed and not said[pattern]],
        "other_values": list(dict.fromkeys(other)),
        "without_code": [name for name in sorted(rules) if not _holds(family, name, trial)],
    }


def _said(pattern: Pattern, instances: Sequence[Instance]) -> bool:
    return any(
        pattern.values(sentence) is not None
        for instance in instances
        for sentence in sentences(instance.text)
    )


def _holds(family: Family, name: str, trial: Trial) -> bool:
    """Return whether some voter has a constant of that name that decides answers, or a function that no fixed
    value can stand for: a rule that holds always is none. A fixed value with which answers are missing and
    the others are as before says nothing. A function may be called by name or be looked up in a table.
    """
    for source in family.voters().values():
        if name in constants(source):
            if any(trial.matters(set_constant(source, name, other)) for other in ("None", "0", "1", "2")):
                return True
            continue
        fixed = [
            item
            for gives in ("True", "{}", "None", "False")
            if (item := without_function(source, name, gives)) is not None
        ]
        if fixed and all(trial.holds(element) is not False for element in fixed):
            return True
    return False
