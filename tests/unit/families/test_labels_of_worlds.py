"""Labels of 200 instances of drawn worlds against solvers that share no code with the engines."""

import random

import numpy as np
import pytest
from worlds_answers import answer_of, is_right_for
from worlds_fixtures import entries

from evolake.families.model.statement import fill, stated
from evolake.families.operators.registry import child_of

DRAWN = ((2, 1), (4, 2), (6, 3), (8, 4), (10, 5))


@pytest.mark.parametrize("name", ["constraint_world", "process_world", "puzzle_world"])
def test_labels_of_a_hundred_instances_are_those_of_an_independent_solver(name):
    right = 0
    for number in range(500, 520):
        family = child_of(name, [], np.random.default_rng(number))
        made = entries(family)
        for difficulty, seed in DRAWN:
            random.seed(seed)
            inputs, texts = made["generator.py"](difficulty)
            label = made["validator.py"](inputs)
            if family.checkers:
                assert is_right_for(family, inputs, label), (number, family.title, inputs)
            else:
                assert label == answer_of(family, inputs, fill(stated(family), texts)), (
                    number,
                    family.title,
                    inputs,
                )
            right += 1
    assert right == 100
