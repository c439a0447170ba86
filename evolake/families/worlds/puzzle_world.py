"""Draw puzzle worlds: an engine of the folder `puzzles`, a theme, a question and two alternatives of each rule
make a family."""

from __future__ import annotations

import numpy as np

from evolake.families.model.contract import Family
from evolake.families.worlds.engine import Details, Engine, Question, Rules, engine_in, family_of
from evolake.families.worlds.engine_files import WORLDS, Words, one_of, some_of, wrong
from evolake.families.worlds.liveliness import NoWorld, is_alive

FOLDER = WORLDS / "puzzles"


def _shipped() -> tuple[Engine, ...]:
    found = [engine_in(path.read_text(encoding="utf-8"), path.stem) for path in sorted(FOLDER.glob("*.md"))]
    places = [puzzle.place for puzzle in found]
    if sorted(places) != list(range(1, len(found) + 1)):
        raise wrong("*", f"places {sorted(places)}", "each number from 1 on once")
    return tuple(sorted(found, key=lambda puzzle: puzzle.place))


PUZZLES = _shipped()
"""The puzzle engines, in the order in which they are drawn."""
OF_MANY_ANSWERS = tuple(puzzle for puzzle in PUZZLES if puzzle.checkers)
OF_ONE_ANSWER = tuple(puzzle for puzzle in PUZZLES if not puzzle.checkers)
CONSTRUCTIVE = 0.75
"""Share of the families that ask for something to be made, which has many correct answers. Some 15 % of a
cycle's accepted children then do."""
DRAWS = 30


def puzzle_world(random: np.random.Generator) -> Family:
    """Return a family that no other is a parent of. Raises NoWorld: no question and rules were found that all
    matter."""
    kind = OF_MANY_ANSWERS if random.random() < CONSTRUCTIVE else OF_ONE_ANSWER
    for _ in range(DRAWS):
        puzzle = one_of(random, kind)
        theme, question = one_of(random, puzzle.themes), one_of(random, puzzle.questions)
        rules = {point: some_of(random, alike) for point, alike in puzzle.rules.items()}
        family = puzzle_of(puzzle, theme, rules, question)
        if is_alive(family):
            return family
    raise NoWorld("no question and rules of a puzzle were found that all matter")


def puzzle_of(puzzle: Engine, theme: Words, rules: Rules, question: Question) -> Family:
    """Return the family of these choices."""
    return family_of(puzzle, theme, rules, question, "puzzle_world", Details())
