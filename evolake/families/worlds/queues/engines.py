"""The sources of a queue's family: generator, reader and three engines that share no code.

simulation  minute by minute, with a list of those in the line
table       from call to call: the next one is at the earliest minute at which a desk is free and a person is
            there
clauses     a variable for each person and minute of beginning, waiting, being served; a SAT solver finds the
            one course that the rules allow
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evolake.families.worlds.parts import constants_of
from evolake.families.worlds.queues.questions import QueueQuestion
from evolake.families.worlds.queues.rules import HEADS, Chosen, functions
from evolake.program_templates import fill_template

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
