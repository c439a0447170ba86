"""Mechanics without dress: the engine and the rules of a world are the same in every theme, and no engine
stands on both sides of a split."""

from collections import defaultdict

import numpy as np
import pytest

from evolake.families.dataset.datasets import units_of
from evolake.families.dataset.exports import NEITHER, side
from evolake.families.model.contract import Family
from evolake.families.operators.registry import child_of
from evolake.families.worlds.mechanics import OWN, Mechanics, mechanics_of
from evolake.families.worlds.process_world import PROCESSES, drawn_world
from evolake.families.worlds.puzzle_world import PUZZLES, puzzle_of
from evolake.lake.population import roots_of


def world(puzzle_number: int, theme: int, *, question: int = 0, turn: int = 0) -> Family:
    puzzle = PUZZLES[puzzle_number]
    rules = {
        point: [alike[turn % len(alike)], alike[(turn + 1) % len(alike)]]
        for point, alike in puzzle.rules.items()
    }
    return puzzle_of(puzzle, puzzle.themes[theme], rules, puzzle.questions[question])


@pytest.mark.parametrize("number", range(len(PUZZLES)), ids=lambda number: PUZZLES[number].name)
def test_a_twin_in_other_dress_has_the_same_mechanics_and_other_rules_or_questions_have_others(number):
    first, twin = world(number, 0), world(number, 1)
    assert first.family_id != twin.family_id and first.template != twin.template
    assert mechanics_of(first) == mechanics_of(twin)
    assert mechanics_of(first).engine == PUZZLES[number].name
    assert (
        len(
            {
                mechanics_of(world(number, 0, turn=0)),
                mechanics_of(world(number, 0, turn=1)),
                mechanics_of(world(number, 0, question=1)),
            }
        )
        == 3
    )


def test_every_drawn_world_has_an_engine():
    engines = {
        mechanics_of(child_of(name, [], np.random.default_rng(seed))).engine
        for seed in range(2)
        for name in ("constraint_world", "process_world", "puzzle_world")
    }
    assert OWN not in engines
    for engine in ("queues", "boards"):
        family = drawn_world(np.random.default_rng(1), PROCESSES[engine])
        assert family is not None and mechanics_of(family).engine == engine


def test_no_engine_and_no_twin_stands_on_both_sides_of_a_split():
    """Worlds of every engine in every dress, and children of two of them."""
    families = [
        world(number, theme, turn=turn)
        for number, puzzle in enumerate(PUZZLES)
        for theme in range(len(puzzle.themes))
        for turn in (0, 1)
    ]
    mechanics: dict[str, Mechanics] = {family.family_id: mechanics_of(family) for family in families}
    parents = {name: [] for name in mechanics} | {
        f"child {number}": [families[number].family_id, families[-1 - 2 * number].family_id]
        for number in range(len(families) // 3)
    }
    units = units_of(roots_of(parents), mechanics)
    sides = defaultdict(set)
    for name in parents:
        sides[side(name, 0.4, units)].update(units[name])
    assert sides["train"] and sides["test"] and not sides["train"] & sides["test"]
    assert sides[NEITHER]
    twins = {
        held: {mechanics[name] for name in mechanics if side(name, 0.4, units) == held}
        for held in ("train", "test")
    }
    assert not twins["train"] & twins["test"]
