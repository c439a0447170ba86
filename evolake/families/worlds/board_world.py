"""Draw worlds of boards: a figure moves over cells with walls, pushes things about, and comes to cells where
more happens.

A theme, a rule each for walls, the edge, things in the way and marked cells, and a question make a family:
generator, reader and three engines that share no code. Each rule has its meaning in the terms of each engine:

    run       statements on `w`, the one board that there is: simulation, move by move
    table     new columns of `z`, of many boards at the same time: every rule on whole-board arrays
    relation  the cases of a move from cell `x` in direction `v`: a variable for each move and cell

run: `w` has `at`, `things`, `ground` (cell -> letter), `home`, `pause` (moves that are still lost), `rows`,
`columns`; j is the direction (0 to 3, clockwise, 0 is north), `towards(cell, j, n)` the n-th cell from there,
`go(w, cell)` goes there if it is free; `ahead` is the cell with the thing. table: cells are numbers of a
board with a rim, `s` the steps ahead, to the right, back and to the left; `hop(z, b, cells)` goes there if
free, `reach(z, b, s, first, most)` counts the free cells in a row from the `first` one ahead on, `pushed(z,
s, k)` moves the thing ahead by k cells. relation: a case is (needs, where the mover is after it, changed
things, lost moves); `either(g, y, one, other)` has the cases `one` where y is free. `came` (marks only):
whether the mover is on a mark and was in another cell when the move began. K is the amount.

Questions: `run` folds `trace`: (cell of the mover, cells of things) before the first move and after each;
cells are (row, column) from 1 on, `ground` is cell -> letter. `table` folds `at` (numbers of cells, row *
width + column) and `box` (boards), with `b` what never changes. `clauses` asks through `is_(kind, t, cell)`,
which says by the model whether the mover is `at` a cell, or a `thing` is there, after move t, or through
`solver` and `L`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import numpy as np

from evolake.families.model.contract import Alternative, Family, MutationPoint, Port
from evolake.families.model.statement import whole
from evolake.families.worlds.entries import entries, tables_in
from evolake.families.worlds.liveliness import Steps, entry, is_alive
from evolake.families.worlds.parts import (
    Question,
    Rule,
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
class BoardTheme:
    """opening: what the board is, up to the point. words: the `mover`, a `thing` and `things`, a `wall`, a
    `mark` and `marks`, `plain` ground, with `a_thing`, `a_wall`, `a_mark`; the directions `n`, `e`, `s`, `w`,
    and `down` and `along`, how rows and columns are numbered.
    """

    key: str
    title: str
    category: str
    opening: str
    words: Mapping[str, str]


WAYS = {
    "compass": {
        "n": "north",
        "e": "east",
        "s": "south",
        "w": "west",
        "down": "from north to south",
        "along": "from west to east",
    },
    "screen": {
        "n": "up",
        "e": "right",
        "s": "down",
        "w": "left",
        "down": "from top to bottom",
        "along": "from left to right",
    },
}


def _theme(key: str, title: str, category: str, opening: str, ways: str, **words: str) -> BoardTheme:
    named = {
        f"a_{item}": f"an {words[item]}" if words[item][0] in "aeiou" else f"a {words[item]}"
        for item in ("thing", "wall", "mark")
    }
    return BoardTheme(
        key,
        title,
        category,
        opening,
        {"things": f"{words['thing']}s", "marks": f"{words['mark']}s", **WAYS[ways], **named, **words},
    )


BOARD_THEMES = tuple(_theme(key, **entry) for key, entry in tables_in("board_themes").items())


POINTS = ("wall", "edge", "push", "mark")
"""The mutation points of a board, in the order of its text."""
HEADS = {
    **{
        (point, meaning): head
        for point in POINTS[:3]
        for meaning, head in (("run", "w, j"), ("table", "z, b, s"), ("relation", "g, x, v"))
    },
    ("mark", "run"): "w, j, came, began",
    ("mark", "table"): "z, b, s, came",
    ("mark", "relation"): "g, x, v, came",
}
"""Arguments of a rule's function, by point and engine."""
RULES = entries("board_rules", Rule, "rules")["rules"]


class Chosen(WithAmount[Rule]):
    """A rule with its amount."""

    def said(self, words: Mapping[str, str]) -> str:
        """Return its sentence. words: of the theme."""
        counted = {
            True: ("one more cell", "the next move is"),
            False: (f"{self.amount} more cells", f"the next {self.amount} moves are"),
        }
        cells, moves = counted[self.amount == 1]
        return self.rule.text.format(**words, k=self.amount, k_cells=cells, next_moves=moves)


def chosen_rules(point: str | None = None) -> list[Chosen]:
    """Return every rule of a point, or of all, with every amount."""
    return [Chosen(rule, amount) for rule in RULES if point in (None, rule.point) for amount in rule.amounts]


def functions(rules: Iterable[Chosen], meaning: str) -> str:
    """Return a function for each rule, in the terms of one engine, and KINDS, where it is looked up."""
    result, rules = "", list(rules)
    for rule in rules:
        ahead = '    ahead = towards(w["at"], j)\n' if (rule.rule.point, meaning) == ("push", "run") else ""
        body = (
            f"{ahead}{indent(rule.code('run'), '    ')}"
            if meaning == "run"
            else f"    return {rule.code(meaning)}"
        )
        result += f"\n\ndef {rule.key}({HEADS[rule.rule.point, meaning]}):\n{body}\n"
    names = ", ".join(f'"{item.key}": {item.key}' for item in rules)
    return f"{result}\n\nKINDS = {{{names}}}\n"


def labels(keys: Iterable[str]) -> list[str]:
    """Return what titles call the rules of these keys. Raises KeyError for a key of no rule."""
    return labels_of(keys, chosen_rules())


@dataclass(frozen=True)
class BoardQuestion(Question):
    """text: with {s1} and so on for the slots of `keys`. make: sets `ask`, in the generator, from what `run`
    folds. port: the key that is one. low, high: of the port, see Port. open_start: whether the mover's first
    cell is left open.
    """

    keys: tuple[str, ...] = ()
    make: str = "    ask = {}\n"
    port: str = ""
    low: int = 1
    high: int | tuple[str, ...] = 1
    open_start: bool = False


QUESTIONS = entries(
    "board_questions", BoardQuestion, "questions", indented=("run", "table", "clauses", "make")
)["questions"]


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
    return family if is_alive(family, Steps("moves", _changes(family))) else None


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
