"""The sources of a board's family: generator, reader and three engines that share no code.

simulation  one board, changed move by move
table       arrays of whole boards, many at the same time, every rule on all of them
clauses     a variable for each move and cell
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import indent

from evolake.families.worlds.boards.questions import BoardQuestion
from evolake.families.worlds.boards.rules import Chosen, functions
from evolake.families.worlds.parts import constants_of
from evolake.program_templates import fill_template

Rules = Mapping[str, Sequence[Chosen]]
"""Point -> its alternatives, of which the first is in force."""


def simulation_source(rules: Rules, question: BoardQuestion) -> str:
    """Return the primary."""
    body = (
        '    trace = travelled(inputs["board"], inputs["moves"])\n    ground = '
        'set_up(inputs["board"])["ground"]\n'
    )
    moving = _moving(rules) + _filled("travelled")
    return _filled(
        "simulation", constants=constants_of(rules), moving=moving, answer=f"{body}{question.run}\n"
    )


def table_source(rules: Rules, question: BoardQuestion) -> str:
    """Return an independent validator."""
    return _filled(
        "table",
        constants=constants_of(rules),
        rules=functions(_all(rules), "table"),
        answer=f"{question.table}\n",
    )


def clauses_source(rules: Rules, question: BoardQuestion) -> str:
    """Return an independent validator."""
    return _filled(
        "clauses",
        constants=constants_of(rules),
        rules=functions(_all(rules), "relation"),
        answer=indent(question.clauses, "    ") + "\n",
        homes='kinds["@"] + kinds["."]' if question.open_start else 'kinds["@"]',
    )


def generator_source(
    rules: Rules, question: BoardQuestion, names: Mapping[str, str], ways: Sequence[str]
) -> str:
    """Return the generator. names: letter -> what the cell is called. ways: the words of the directions,
    clockwise from north on."""
    moving = _moving(rules) + _filled("travelled")
    return _filled(
        "generator",
        names=dict(names),
        ways=list(ways),
        constants=constants_of(rules),
        moving=moving,
        make=question.make,
    )


def reader_source(
    whole: str, declared: str, question: BoardQuestion, names: Mapping[str, str], ways: Sequence[str]
) -> str:
    """Return the reader. whole: the expression of the whole statement. declared: the assignment of its
    sentences."""
    ask = ", ".join(f'"{key}": int(match["slot{slot}"])' for slot, key in enumerate(question.keys, start=3))
    letters = {name: letter for letter, name in names.items()}
    return _filled("reader", letters=letters, ways=list(ways), whole=repr(whole), declared=declared, ask=ask)


def _moving(rules: Rules) -> str:
    """Return the rules, and the moves that apply them to one board."""
    return functions(_all(rules), "run") + _filled("moving")


def _filled(name: str, /, **values: object) -> str:
    return fill_template(f"evolake.families.worlds.boards.templates.{name}", **values)


def _all(rules: Rules) -> list[Chosen]:
    return [rule for alternatives in rules.values() for rule in alternatives]
