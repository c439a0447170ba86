"""A board, drawn whole: a theme, a rule each for walls, the edge, things in the way and marked cells, and a
question make their own family."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from evolake.families.model.contract import Alternative, Family, MutationPoint, Port
from evolake.families.model.statement import whole
from evolake.families.worlds.boards.engines import (
    Rules,
    clauses_source,
    generator_source,
    reader_source,
    simulation_source,
    table_source,
)
from evolake.families.worlds.boards.questions import QUESTIONS, BoardQuestion
from evolake.families.worlds.boards.rules import POINTS, Chosen, chosen_rules
from evolake.families.worlds.boards.themes import BOARD_THEMES, BoardTheme
from evolake.families.worlds.declaring import declared_source
from evolake.families.worlds.liveliness import Steps, is_alive
from evolake.families.worlds.parts import WorldSources, by_rules, drawn_world, points_of, process_family
from evolake.families.worlds.trying import all_matter, entry

TRIED, TRIES, DIFFERENT, CHANGED = 5, 16, 4, 3
"""A board's answers are looked at on so many instances of one difficulty: how many must differ, and be others
by another rule."""
OPENING = (
    "Its rows are numbered {down} and its columns {along}, in each case from 1 on. At first the cells of "
    "the rows hold, {along}:",
    "Where the list says {mover} or {thing}, the ground below is {plain}.",
)
COURSE = (
    "The {mover} makes these moves, one after another: [Input Slot 2].",
    "The cell ahead is the one next to the {mover} in the direction of the move, as seen when the move "
    "begins.",
    "A cell is free if it is on the board and neither {a_wall} nor {a_thing} nor the {mover} is in it, "
    "whether there is {a_mark} or not.",
    "If the cell ahead is free, the {mover} goes into it; otherwise the rules say what happens.",
    "They are applied in this order, each at most once in a move:",
)
"""What holds of every board, before and after its rows."""


def board_world(random: np.random.Generator) -> Family | None:
    """Return a family that no other is a parent of, None if no question and rules were found that all
    matter."""
    return drawn_world(
        random, BOARD_THEMES, QUESTIONS, {point: chosen_rules(point) for point in POINTS}, _mattering
    )


def _mattering(theme: BoardTheme, rules: dict[str, list[Chosen]], question: BoardQuestion) -> Family | None:
    family = board_of(theme, rules, question)
    alive = all_matter(family, TRIED, TRIES, DIFFERENT, CHANGED) and is_alive(
        family, Steps("moves", _changes(family))
    )
    return family if alive else None


def _changes(family: Family) -> Callable[[Any], list[bool]]:
    """For each move, whether it changes where anything is."""
    travelled = entry(family.validator, "travelled")

    def changes(inputs: Any) -> list[bool]:
        trace = travelled(inputs["board"], inputs["moves"])
        return [before != after for before, after in itertools.pairwise(trace)]

    return changes


def board_of(theme: BoardTheme, rules: Rules, question: BoardQuestion) -> Family:
    """Return the family of these choices; of each rule the first alternative is in force."""
    words = theme.words
    points = points_of(rules, lambda item: item.said(words))
    names = {
        "@": words["mover"],
        "o": words["thing"],
        "#": words["wall"],
        "x": words["mark"],
        ".": words["plain"],
    }
    ways, text = [words[item] for item in "nesw"], template(theme, question)
    forms = {2: r"\w+(?:, \w+)*", **dict.fromkeys(range(3, 3 + len(question.keys)), r"\d+")}
    slot = 3 + question.keys.index(question.port) if question.port else 0
    ports = (
        (Port(question.port, ("ask", question.port), slot, question.low, question.high),)
        if question.port
        else ()
    )
    return process_family(
        theme,
        title(theme, rules, question),
        text,
        WorldSources(
            generator=generator_source(rules, question, names, ways),
            simulation=simulation_source(rules, question),
            clauses=clauses_source(rules, question),
            table=table_source(rules, question),
            reader=reader_source(
                whole(text, points, forms),
                declared_source(text, points, _holder, [("Row {number}: {cells}.", "")]),
                question,
                names,
                ways,
            ),
        ),
        points=points,
        ports=ports,
        answer=question.answer,
    )


def _holder(point: MutationPoint, item: Alternative) -> str:
    return item.name


def template(theme: BoardTheme, question: BoardQuestion) -> str:
    """Return the statement with its slots and rules."""
    words = theme.words
    listed, below = (item.format(**words) for item in OPENING)
    course = " ".join([below, *(item.format(**words) for item in COURSE)])
    ruled = "\n".join(f"- [Rule {point}]" for point in POINTS)
    asked = question.text.format(
        **words, **{f"s{number}": f"[Input Slot {number + 2}]" for number in range(1, len(question.keys) + 1)}
    )
    return (
        f"{theme.opening} {listed}\n\n[Input Slot 1]\n\n{course}\n\n{ruled}\n\n<!-- question -->\n"
        f"{asked[:1].upper()}{asked[1:]}\n"
    )


def title(theme: BoardTheme, rules: Rules, question: BoardQuestion) -> str:
    """Return what the puzzle is about, what is asked, and which rules are in force."""
    return (
        f"{theme.title}: "
        f"{question.title}{by_rules(alternatives[0].rule.label for alternatives in rules.values())}"
    )
