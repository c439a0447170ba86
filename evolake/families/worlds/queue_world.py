"""Draw worlds of queues: people arrive, are in a line, are called by a rule, are served for a time, or go
away.

A theme, a rule each for calls, leaving and services, and a question make a family: generator, reader and
three engines that share no code. Each rule has its meaning in the terms of each engine:

    run       expressions of one person `c` at minute `t`             (minute by minute, with a list of those in the line)
    table     columns over all persons; `w` are the places in the line (from call to call)
    relation  what may be, of two persons or of a service             (a variable for each person and minute of beginning,
                                                                      waiting, being served; a SAT solver)

    next   run: key of the smallest.  table: which of `w`.  relation: whether person i goes before person j in minute t
    leave  run: whether `c` goes away; `waited` is None on arrival.  table: (the last minute of being called, how many others are borne on arrival)
           relation: whether a person goes away who has waited so long (-1 on arrival) and found so many
           others
    pace   run: (minutes served, minutes closed after it).  table: the same, of person i.  relation: whether they may be `served` and `closed`

A person is (minute of arrival, need, card); `FOREVER` is later than any minute.

Questions: `run` folds `calls` (a mapping for each call, in order), `gone` (numbers of those who went away)
and `line` (how many are in it at the end of each minute, from minute 0 on). `table` folds arrays by person:
`start`, `until` (0 for who is not served), `rank` (of the call), and `waiting(m)`, who is in line at the end
of minute m. `clauses` asks through `is_`, which says by the model whether person i (from 0) begins, waits or
is served in minute t.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evolake.families.model.contract import Alternative, Family, MutationPoint, Port
from evolake.families.model.statement import whole
from evolake.families.worlds import parts
from evolake.families.worlds.entries import entries, tables_in
from evolake.families.worlds.liveliness import Steps, is_alive
from evolake.families.worlds.parts import (
    Question,
    WithAmount,
    WorldSources,
    by_rules,
    constants_of,
    declared_source,
    drawn_world,
    labels_of,
    points_of,
    process_family,
)
from evolake.program_templates import fill_template


@dataclass(frozen=True)
class QueueTheme:
    """opening: with slot 1 for the number of desks. words: a `member` and `folk`, a `desk` and `desks`, the
    `unit` of time and `units`, and the `card` that some have.
    """

    key: str
    title: str
    category: str
    opening: str
    words: Mapping[str, str]


def _theme(key: str, title: str, category: str, opening: str, **words: str) -> QueueTheme:
    return QueueTheme(
        key,
        title,
        category,
        opening,
        {"folk": f"{words['member']}s", "desks": f"{words['desk']}s", "units": f"{words['unit']}s", **words},
    )


QUEUE_THEMES = tuple(_theme(key, **entry) for key, entry in tables_in("queue_themes").items())


POINTS = ("next", "leave", "pace")
"""The mutation points of a queue, in the order of its text."""
HEADS = {
    ("next", "run"): "c, t",
    ("next", "table"): "w, t, need, card",
    ("next", "relation"): "i, j, t, people",
    ("leave", "run"): "c, others, waited",
    ("leave", "table"): "come, need, card",
    ("leave", "relation"): "waited, others, need, card",
    ("pace", "run"): "c, t",
    ("pace", "table"): "i, t, come, need, card",
    ("pace", "relation"): "served, closed, t, waited, need, card",
}
"""Arguments of a rule's function, by point and engine."""


@dataclass(frozen=True)
class Rule(parts.Rule):
    """A kind of rule of queues; the text of `next` is the end of a sentence. cards: whether it asks for the
    card."""

    cards: bool = False


RULES = entries("queue_rules", Rule, "rules")["rules"]


Chosen = WithAmount[Rule]


def chosen_rules(point: str | None = None) -> list[Chosen]:
    """Return every rule of a point, or of all, with every amount."""
    return [Chosen(rule, amount) for rule in RULES if point in (None, rule.point) for amount in rule.amounts]


def functions(rules: Iterable[Chosen], meaning: str) -> str:
    """Return a function for each rule, in the terms of one engine."""
    return "".join(
        f"\n\ndef {rule.key}({HEADS[rule.rule.point, meaning]}):\n    return {rule.code(meaning)}\n"
        for rule in rules
    )


def labels(keys: Iterable[str]) -> list[str]:
    """Return what titles call the rules of these keys. Raises KeyError for a key of no rule."""
    return labels_of(keys, chosen_rules())


@dataclass(frozen=True)
class QueueQuestion(Question):
    """text: with {s1} for the slot of `key`. make: sets `ask`, in the generator, from what `run` folds. low,
    high: of the port of `key`, see Port. cards: whether it asks for the card.
    """

    key: str = ""
    make: str = "{}"
    low: int = 1
    high: int | tuple[str, ...] = 0
    cards: bool = False


QUESTIONS = entries("queue_questions", QueueQuestion, "questions", indented=("run", "table", "clauses"))[
    "questions"
]


Rules = Mapping[str, Sequence[Chosen]]
"""Point -> its alternatives, of which the first is in force."""
PEOPLE = {True: 'inputs["people"]', False: '[(*one, 0) for one in inputs["people"]]'}


def simulation_source(rules: Rules, question: QueueQuestion, *, cards: bool) -> str:
    """Return the primary. cards: whether the inputs say who has a card."""
    return _filled(
        "simulation",
        constants=constants_of(rules),
        held=_held(rules),
        people=PEOPLE[cards],
        answer=f"{question.run}\n",
    )


def table_source(rules: Rules, question: QueueQuestion, *, cards: bool) -> str:
    """Return an independent validator."""
    return _filled(
        "table",
        constants=constants_of(rules),
        rules=_functions(rules, "table"),
        people=PEOPLE[cards],
        answer=f"{question.table}\n",
    )


def clauses_source(rules: Rules, question: QueueQuestion, *, cards: bool) -> str:
    """Return an independent validator."""
    return _filled(
        "clauses",
        constants=constants_of(rules),
        rules=_functions(rules, "relation"),
        people=PEOPLE[cards],
        answer=f"{question.clauses}\n",
    )


def generator_source(rules: Rules, question: QueueQuestion, says: Sequence[str], *, cards: bool) -> str:
    """Return the generator. says: how a line speaks of a person, with {0} for the number, {1} of arriving and
    {2} of the need; without and with a card.
    """
    need = "random.randint(1 + desks, 5 + desks)"
    return _filled(
        "generator",
        says=list(says),
        constants=constants_of(rules),
        held=_held(rules),
        which="one[2]" if cards else "0",
        make=question.make,
        need_and_card=f"{need}, random.randrange(2)" if cards else need,
        everybody="people" if cards else "[(*one, 0) for one in people]",
    )


def reader_source(
    whole: str, declared: str, question: QueueQuestion, forms: Sequence[str], *, cards: bool
) -> str:
    """Return the reader. whole: the expression of the whole statement. declared: the assignment of its
    sentences. forms: expressions of `says`."""
    return _filled(
        "reader",
        whole=repr(whole),
        forms=list(forms),
        declared=declared,
        need_and_card="int(found[3]), card" if cards else "int(found[3])",
        ask=f'"{question.key}": int(match["slot3"])' if question.key else "",
    )


def _filled(name: str, /, **values: object) -> str:
    return fill_template(f"evolake.families.worlds.queues.templates.{name}", **values)


def _held(rules: Rules) -> str:
    """Return the rules as one function for each point, of which each is a case, and the minutes of a queue by
    them."""
    names = {"next": "order", "leave": "leave", "pace": "pace"}
    results = ""
    for point, alternatives in rules.items():
        results += f"\n\ndef {names[point]}({HEADS[point, 'run']}):\n"
        results += "".join(
            f'    if {point.upper()} == "{item.key}":\n        return {item.code("run")}\n'
            for item in alternatives
        )
    return results + _filled("held")


def _functions(rules: Rules, meaning: str) -> str:
    """Return the rules as functions of an engine, and KINDS, where each is found by its name."""
    known = [rule for alternatives in rules.values() for rule in alternatives]
    return (
        functions(known, meaning)
        + "\n\nKINDS = {"
        + ", ".join(f'"{item.key}": {item.key}' for item in known)
        + "}\n"
    )


ARRIVAL = "{member} {{0}} arrives in {unit} {{1}} and needs {{2}} {units}"
COURSE = (
    "At most one {member} arrives in any {unit}, and they are numbered in the order of their arrival.",
    "In every {unit}, three things happen in this order: a {member} that arrives joins the line at its "
    "back unless a rule forbids it; then each free {desk} in turn calls a {member} from the line as long "
    "as there is one to call; then whoever gives up goes away.",
    "The {unit} of the call is the first {unit} of the service, and a {desk} is free again in the {unit} "
    "after the last one of a service, unless a rule closes it.",
)
"""What holds of every queue, before and after the list of persons."""


def queue_world(random: np.random.Generator) -> Family | None:
    """Return a family that no other is a parent of, None if no question and rules were found that all
    matter."""
    return drawn_world(
        random, QUEUE_THEMES, QUESTIONS, {point: chosen_rules(point) for point in POINTS}, _mattering
    )


def _mattering(theme: QueueTheme, rules: dict[str, list[Chosen]], question: QueueQuestion) -> Family | None:
    minded = question.cards or any(alternatives[0].rule.cards for alternatives in rules.values())
    if minded < _spoken(rules):
        return None
    family = queue_of(theme, rules, question)
    return family if is_alive(family, Steps("people")) else None


def _spoken(rules: Rules) -> bool:
    """Return whether any rule asks for the card."""
    return any(alternative.rule.cards for alternatives in rules.values() for alternative in alternatives)


def queue_of(theme: QueueTheme, rules: Rules, question: QueueQuestion) -> Family:
    """Return the family of these choices; of each rule the first alternative is in force."""
    cards = question.cards or _spoken(rules)
    points = points_of(rules, lambda item: said(item, theme))
    text, says = template(theme, question), lines(theme, cards=cards)
    forms = {1: r"\d+", 2: r".+?", 3: r"\d+"}
    listed = [(item.removeprefix("- ").format("{number}", "{arrival}", "{need}"), "") for item in says]
    ports = (
        (Port(question.key, ("ask", question.key), 3, question.low, question.high),) if question.key else ()
    )
    return process_family(
        theme,
        title(theme, rules, question),
        text,
        WorldSources(
            generator=generator_source(rules, question, says, cards=cards),
            simulation=simulation_source(rules, question, cards=cards),
            clauses=clauses_source(rules, question, cards=cards),
            table=table_source(rules, question, cards=cards),
            reader=reader_source(
                whole(text, points, forms),
                declared_source(text, points, _holder, listed),
                question,
                [
                    re.escape(item.format(*"XYZ")).translate({ord(letter): r"(\d+)" for letter in "XYZ"})
                    for item in says
                ],
                cards=cards,
            ),
        ),
        points=points,
        ports=ports,
        answer=question.answer,
    )


def _holder(point: MutationPoint, item: Alternative) -> str:
    return item.name


def said(item: Chosen, theme: QueueTheme) -> str:
    """Return the rule in the words of the theme."""
    return item.rule.text.format(**theme.words, k=item.amount)


def lines(theme: QueueTheme, *, cards: bool) -> list[str]:
    """Return how the list speaks of a person, with {0} for the number, {1} for the arrival, {2} for the need;
    without a card, and with one."""
    line = "- " + ARRIVAL.format(**theme.words).capitalize()
    return (
        [f"{line}, without {theme.words['card']}.", f"{line}, with {theme.words['card']}."]
        if cards
        else [f"{line}."]
    )


def template(theme: QueueTheme, question: QueueQuestion) -> str:
    """Return the statement with its slots and rules."""
    words = theme.words
    numbered = f"{words['units'].capitalize()} are numbered from 1 on."
    first = " ".join([theme.opening, numbered, COURSE[0].format(**words), "This is what is known of them:"])
    course = " ".join(item.format(**words) for item in COURSE[1:])
    ruled = "\n".join(
        [
            f"- Called from the line is always [Rule {POINTS[0]}].",
            *(f"- [Rule {point}]" for point in POINTS[1:]),
        ]
    )
    asked = question.text.format(**words, s1="[Input Slot 3]")
    return (
        f"{first}\n\n[Input Slot 2]\n\n{course}\n\nThese are the rules:\n\n{ruled}\n\n<!-- question -->\n"
        f"{asked}\n"
    )


def title(theme: QueueTheme, rules: Rules, question: QueueQuestion) -> str:
    """Return what the puzzle is about, what is asked, and which rules are in force."""
    return (
        f"{theme.title}: "
        f"{question.title}{by_rules(alternatives[0].rule.label for alternatives in rules.values())}"
    )
