"""Draw process worlds: a theme, rules and a question on the run make their own family. There are three engines,
each a file of the folder `engines`: boards, queues, and runs of three signals.

A rule has its meaning in the terms of each program: `run` of the primary and the generator, `table` and
`relation` of the two others. So has a question: `run`, `table`, `clauses`. Each file says what these are
written in. In a meaning, K is the rule's amount, "S" and "T" are the stores of a rule on stores.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

import numpy as np

from evolake.families.model.contract import Answer, AnswerType, Family, Port
from evolake.families.model.statement import whole
from evolake.families.worlds.engine_files import (
    MATCHED,
    Words,
    by_rules,
    checked,
    constants_of,
    declared_source,
    engine_parts,
    named_records,
    one_of,
    points_of,
    records,
    said,
    some_of,
    themes_of,
    with_code,
)
from evolake.families.worlds.liveliness import NoWorld, Steps, entry, is_alive


@dataclass(frozen=True)
class Rule:
    """A kind of rule. label: for titles. text: with words of the theme, <k> for the amount, <s> and <t> for
    stores.

    amounts: what the amount may be; a rule without any has one that is not spoken of. reads, writes: letters
    of variables, of a rule on stores; `s` and `t` are two different ones. cards: whether it asks who has a
    card. Texts of two rules never contain each other.
    """

    name: str
    label: str
    text: str
    run: str
    table: str
    relation: str
    amounts: tuple[int, ...] = (0,)
    reads: str = ""
    writes: str = ""
    cards: bool = False


@dataclass(frozen=True)
class Question:
    """text: with words of the theme and <asked> for the slot of `key`, a number that is asked about, set by
    `make` in the generator; low, high: see Port. run, table, clauses: bodies of its answers.

    cards: whether it asks who has a card. uses: variables, `s` being a drawn store. places: places of
    programs that are filled in otherwise.
    """

    name: str
    title: str
    text: str
    run: str
    table: str
    clauses: str
    answer: AnswerType = "integer"
    make: str = ""
    key: str = ""
    low: int = 1
    high: int | tuple[str, ...] = 1
    cards: bool = False
    uses: str = ""
    places: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Bound:
    """A rule with its amount and stores."""

    rule: Rule
    amount: int
    first: str = "a"
    second: str = "b"

    @property
    def key(self) -> str:
        """Return its name in the sources."""
        stores = "".join(
            name for name, letter in zip(self.reads, self.rule.reads, strict=True) if letter in "st"
        )
        amount = str(self.amount) if len(self.rule.amounts) > 1 else ""
        return "_".join(part for part in (self.rule.name, stores, amount) if part)

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the variables that the rule reads."""
        return self._variables(self.rule.reads)

    @property
    def writes(self) -> tuple[str, ...]:
        """Return the variables that the rule writes."""
        return self._variables(self.rule.writes)

    def _variables(self, letters: str) -> tuple[str, ...]:
        return tuple({"s": self.first, "t": self.second}.get(letter, letter) for letter in letters)

    def code(self, meaning: str) -> str:
        """Return its meaning of that name."""
        text: str = getattr(self.rule, meaning)
        text = text.replace('"S"', f'"{self.first}"').replace('"T"', f'"{self.second}"').strip("\n")
        return text.replace("K", str(self.amount)) if len(self.rule.amounts) > 1 else text


Rules = Mapping[str, Sequence[Bound]]
"""Point -> its alternatives, of which the first is in force."""


@dataclass(frozen=True)
class Process:
    """A process engine.

    Attributes:
        name: of its file, and in fingerprints of mechanics.
        text: the statement before the question. listed: sentences of its lists, with their own {{slots}}.
            forms: slot -> the regular expression of its texts.
        rules: point -> its rules, in the order of the text. heads: point, or `any` other one -> arguments of
            a rule's function, by meaning. openings: point -> first statement of its rules in `run`.
        found: the table in which programs look up these functions. one, many: words that depend on whether
            an amount is 1.
        programs: `generator`, `primary`, `clauses`, `table`, `reader`, and `shared`, which generator and
            primary have both. places: what is filled in for questions that say no other. cards: places and
            `says`, sentences of the list, `without` and `with` cards.
        keys: of the inputs. steps: the one with the steps of a course. course: the expression of the states before the first
            step and after each, in terms of the primary; "": every step changes the state.
    """

    name: str
    text: str
    rules: Mapping[str, tuple[Rule, ...]]
    heads: Mapping[str, Sequence[str]]
    questions: tuple[Question, ...]
    themes: tuple[Words, ...]
    programs: Mapping[str, str]
    keys: Sequence[str]
    steps: str
    course: str = ""
    listed: Sequence[str] = ()
    forms: Mapping[int, str] = field(default_factory=dict[int, str])
    openings: Mapping[str, str] = field(default_factory=dict[str, str])
    found: str = "KINDS"
    one: Words = field(default_factory=dict[str, str])
    many: Words = field(default_factory=dict[str, str])
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    cards: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])

    def bound(self, *points: str) -> list[Bound]:
        """Return every rule of these points, or of all, with every amount and choice of stores, once each."""
        result: dict[str, Bound] = {}
        for rule in itertools.chain(*(self.rules[point] for point in points or self.rules)):
            for stores in (("a", "b"), ("b", "a")):
                for amount in rule.amounts:
                    item = Bound(rule, amount, *stores)
                    result.setdefault(item.key, item)
        return list(result.values())

    def labels(self, keys: Iterable[str]) -> list[str]:
        """Return what titles call the rules of these keys. Raises KeyError for a key of no rule."""
        known = {item.key: item.rule.label for item in self.bound()}
        return [known[key] for key in keys]

    def says(self, item: Bound, theme: Words) -> str:
        """Return the rule in the words of the theme."""
        stores = {"s": theme[item.first], "t": theme[item.second]} if item.rule.reads else {}
        counted = self.one if item.amount == 1 else self.many
        return said(item.rule.text, {**theme, **stores, "k": str(item.amount), **counted})

    def functions(self, rules: Rules, meaning: str) -> str:
        """Return a function for each rule, in the terms of one program."""
        result = ""
        for point, alternatives in rules.items():
            head = self.heads.get(point) or self.heads["any"]
            for item in alternatives:
                body = f"return {item.code(meaning)}"
                if meaning == "run":
                    body = "\n".join([*filter(None, [self.openings.get(point)]), item.code(meaning)])
                result += f"\n\ndef {item.key}({head[MEANINGS.index(meaning)]}):\n{indent(body, '    ')}\n"
        return result


DIAL = (
    " <dial> numbered from 1 to [Input Slot 4]; forward from the last <mark>, it comes to <mark> 1 again. At the "
    "start it is at <mark> [Input Slot 5]."
)
"""What a run says of its pointer."""
LISTED = ("{number}", "{arrival}", "{need}")
"""Slots of a sentence on a person."""
MEANINGS = ("run", "table", "relation")


def _process(name: str) -> Process:
    words, programs = engine_parts(name)
    alike = {point: records(Rule, rows, name) for point, rows in words.pop("rules").items()}
    return Process(
        name=name,
        programs=programs,
        rules={point: alike.get(point) or alike["any"] for point in words.pop("points", alike)},
        questions=named_records(Question, words.pop("questions"), name),
        themes=themes_of(words.pop("themes"), words.pop("words")),
        forms={int(slot): form for slot, form in words.pop("forms", {}).items()},
        **words,
    )


PROCESSES = {name: _process(name) for name in ("runs", "queues", "boards")}
"""Name -> engine."""
RUNS, QUEUES, BOARDS = PROCESSES.values()
BOARD_SHARE, QUEUE_SHARE = 0.25, 0.3
"""Share of boards, and of queues among the others."""
OPTIONAL = (("r",), ("q",), ("r", "q"), ())
"""What a run has next to its two stores: a pointer, a mode, both, nothing."""
CLOSED = 0.6
"""Share of runs with a rule that ends every turn."""
QUESTIONS, RUN_DRAWS = 5, 400
"""Themes and questions of a run, and rules for each, that are tried before a draw is given up."""
DRAWS = 15
"""Of rules of a board or a queue, for one question."""


def process_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld."""
    kind = random.random()
    if kind >= 1 - BOARD_SHARE or kind < QUEUE_SHARE * (1 - BOARD_SHARE):
        process = QUEUES if kind < QUEUE_SHARE else BOARDS
        if (family := drawn_world(random, process)) is None:
            raise NoWorld(f"no rules of a {process.name[:-1]} were found that all make a difference")
        return family
    for _ in range(QUESTIONS):
        if (family := _drawn_run(random)) is not None:
            return family
    raise NoWorld("no rules were found that keep a run alive and make its answer vary")


def drawn_world(random: np.random.Generator, process: Process) -> Family | None:
    """Return a family of a drawn theme, question and two rules of each point; None if none came of any."""
    known = {point: process.bound(point) for point in process.rules}
    theme = one_of(random, process.themes)
    for place in random.permutation(len(process.questions)).tolist():
        question = process.questions[place]
        for _ in range(DRAWS):
            rules = {point: some_of(random, alike) for point, alike in known.items()}
            in_force = [alternatives[0] for alternatives in rules.values()]
            if _spoken(rules) and not question.cards and not any(item.rule.cards for item in in_force):
                continue
            if _is_alive(process, family := world_of(process, theme, rules, question)):
                return family
    return None


def _drawn_run(random: np.random.Generator) -> Family | None:
    """Return a family of a drawn theme and question; None if no rules were found for them."""
    theme, question = one_of(random, RUNS.themes), one_of(random, RUNS.questions)
    store = one_of(random, "ab")
    asked = {store if name == "s" else name for name in question.uses}
    fitting = [names for names in OPTIONAL if asked <= {"a", "b", *names}]
    names = {"a", "b", *one_of(random, fitting)}
    points = list(RUNS.rules)[: None if random.random() < CLOSED else -1]
    allowed = [item for item in RUNS.bound() if names.issuperset(item.reads)]
    for _ in range(RUN_DRAWS):
        drawn = some_of(random, allowed, 2 * len(points))
        rules = {name: drawn[2 * place : 2 * place + 2] for place, name in enumerate(points)}
        if _lively(rules, asked):
            family = world_of(RUNS, theme, rules, question, store)
            if _is_alive(RUNS, family):
                return family
    return None


def _lively(rules: Rules, asked: set[str]) -> bool:
    """Return whether every rule in force matters to what is asked, both stores do, and no variable is spoken
    of that does not."""
    chosen = [alternatives[0] for alternatives in rules.values()]
    changed = {name for item in chosen for name in item.writes}
    matters, before = set(asked), set[str]()
    while matters != before:
        before = set(matters)
        matters |= {name for item in chosen if before & set(item.writes) for name in item.reads}
    return (
        all(matters & set(item.writes) for item in chosen)
        and changed >= matters == {"a", "b"} | _touched(rules)
        and len({item.rule for item in chosen}) == len(chosen)
    )


def _touched(rules: Rules) -> set[str]:
    return {name for alike in rules.values() for item in alike for name in item.reads}


def _spoken(rules: Rules) -> bool:
    """Return whether any rule asks for the card."""
    return any(item.rule.cards for alike in rules.values() for item in alike)


def _is_alive(process: Process, family: Family) -> bool:
    if not process.course:
        return is_alive(family, Steps(process.steps))
    course = entry(f"{family.validator}\n\ndef course(inputs):\n    return {process.course}\n", "course")

    def changes(inputs: Any) -> list[bool]:
        return [before != after for before, after in itertools.pairwise(course(inputs))]

    return is_alive(family, Steps(process.steps, changes))


def _with_cards(places: Mapping[str, Any], theme: Words) -> dict[str, Any]:
    """Return places that depend on whether persons have cards. `says`: how the list speaks of a person, with
    {0} for the number, {1} of arriving, {2} of the need; without and with a card."""
    says = [said(sentence, theme) for sentence in places["says"]]
    forms = [re.escape(item.format(*"XYZ")) for item in says]
    return {**places, "says": says, "forms": [re.sub("[XYZ]", r"(\\d+)", form) for form in forms]}


def _of_run(
    theme: Words, rules: Rules, question: Question, store: str
) -> tuple[dict[str, str], dict[str, Any], dict[int, str]]:
    """Return words, places and forms that depend on the variables that a run uses."""
    touched = _touched(rules) | set(question.uses)
    uses = ["a", "b", *(name for name in "rq" if name in touched)]
    slot, begin, cap, forms = 4, "", 'int(match["slot1"])', dict.fromkeys(range(1, 6), r"\d+")
    start = ['"a": int(match["slot2"])', '"b": int(match["slot3"])']
    texts = ["str(cap)", 'str(start["a"])', 'str(start["b"])']
    if "r" in uses:
        begin += DIAL
        texts += ["str(m)", 'str(start["r"] + 1)']
        cap += ', "marks": int(match["slot4"])'
        start.append('"r": int(match["slot5"]) - 1')
        slot = 6
    if "q" in uses:
        modes = list(theme["modes"])
        shows = theme["lamp"].split()[-1]
        begin += f" <lamp> either {modes[1]} or {modes[0]}. At the start it {shows} [Input Slot {slot}]."
        forms[slot] = "|".join(modes)
        texts.append(f'{modes!r}[start["q"]]')
        start.append(f'"q": {modes!r}.index(match["slot{slot}"])')
        slot += 1
    whens = [*theme["when"], theme["close"]]
    words = {
        "s": theme[store],
        "begin": begin,
        "slot": str(slot),
        "ruled": "\n".join(f"- {when}, [Rule {point}]." for when, point in zip(whens, rules, strict=False)),
    }
    places = {
        "uses": uses,
        "events": list(theme["events"]),
        "slot": slot,
        "cap_and_marks": 'cap, "marks": m' if "r" in uses else "cap",
        "start_texts": ", ".join(texts),
        "read_cap": cap,
        "read_start": ", ".join(start),
        "close": "(CLOSE,)" if "close" in rules else "()",
        "per": 2 if "close" in rules else 1,
    }
    return words, places, forms | {slot: r"\w+(?:, \w+)*"}


def world_of(process: Process, theme: Words, rules: Rules, question: Question, store: str = "a") -> Family:
    """Return the family of these choices; of each rule the first alternative is in force. store: the one that
    is asked about."""
    more, places, forms, slot = {}, dict[str, Any](), dict(process.forms), 3
    if process is RUNS:
        more, places, forms = _of_run(theme, rules, question, store)
        slot = int(more["slot"]) + 1
    elif process.cards:
        places = _with_cards(process.cards["with" if question.cards or _spoken(rules) else "without"], theme)
    forms[slot] = r"\d+"
    words = {**theme, **more, "asked": f"[Input Slot {slot}]"}
    asked = said(question.text.strip("\n"), words)
    text = f"{said(process.text, words)}\n\n<!-- question -->\n{asked[:1].upper()}{asked[1:]}\n"
    points = points_of(
        {point: {item.key: process.says(item, theme) for item in alike} for point, alike in rules.items()}
    )
    listed = [line.removeprefix("- ").format(*LISTED) for line in places.get("says", process.listed)]
    places |= {
        **{name: word for name, word in theme.items() if name not in places},
        "constants": constants_of(points),
        "rules": _run_source(process, rules),
        "whole": repr(whole(text, points, forms)),
        "declared": declared_source(text, points, dict.fromkeys(rules, ""), [(line, "") for line in listed]),
        "ask": f'"{question.key}": int(match["slot{slot}"])' if question.key else "",
    }
    coded = {
        "checked": checked(process.keys),
        "matched": MATCHED,
        **process.places,
        **({"make": question.make} if question.make else {}),
        **question.places,
    }

    def filled(program: str, answer: str = "", **more: object) -> str:
        codes = {
            name: code.replace('"S"', f'"{store}"') for name, code in {**coded, "answer": answer}.items()
        }
        return with_code(process.programs[program], codes, **{**places, **more})

    places["shared"] = filled("shared")
    return Family(
        name="process_world",
        title=f"{theme['title']}: {question.title}{by_rules(alike[0].rule.label for alike in rules.values())}",
        category=theme["category"],
        language="en",
        generator=filled("generator"),
        template=text,
        validator=filled("primary", question.run),
        validators={
            "clauses": filled("clauses", question.clauses, rules=_table_source(process, rules, "relation")),
            "table": filled("table", question.table, rules=_table_source(process, rules, "table")),
        },
        reader=filled("reader"),
        answer=Answer(question.answer),
        points=points,
        ports=(Port(question.key, ("ask", question.key), slot, question.low, question.high),)
        if question.key
        else (),
        parents=(),
        operator="process_world",
    )


def _run_source(process: Process, rules: Rules) -> str:
    """Return the rules as functions, or as cases: of one function for each point of queues, of one for all of
    runs."""
    if process is BOARDS:
        return _table_source(process, rules, "run")
    if process is RUNS:
        return "".join(
            f'    {"el" if number else ""}if rule == "{item.key}":\n{indent(item.code("run"), " " * 8)}\n'
            for number, item in enumerate(itertools.chain(*rules.values()))
        )
    result = ""
    for point, alternatives in rules.items():
        result += f"\n\ndef {'order' if point == 'next' else point}({process.heads[point][0]}):\n"
        result += "".join(
            f'    if {point.upper()} == "{item.key}":\n        return {item.code("run")}\n'
            for item in alternatives
        )
    return result


def _table_source(process: Process, rules: Rules, meaning: str) -> str:
    """Return the rules as functions, and the table in which a program looks them up; of relations between
    states with the variables that they read and write."""
    known = list(itertools.chain(*rules.values()))
    if process is RUNS and meaning == "relation":
        rows = (f'    "{item.key}": ({item.key}, {item.reads!r}, {item.writes!r}),\n' for item in known)
        table = f"\n{''.join(rows)}"
    else:
        table = ", ".join(f'"{item.key}": {item.key}' for item in known)
    return f"{process.functions(rules, meaning)}\n\n{process.found} = {{{table}}}\n"
