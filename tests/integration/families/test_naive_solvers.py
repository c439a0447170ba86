"""Naive programs answer the questions of families in the jail."""

from dataclasses import replace
from statistics import fmean

import pytest
from families_fixtures import SETTINGS, seed_family

from evolake.families.dataset.solver_rates import NAIVE, POOL, ask_naive

LEVELS = (1, 7)


def shares(found):
    return {name: {level: fmean(own) for level, own in values.items()} for name, values in found.items()}


def test_each_kind_of_mistake_is_right_sometimes_and_the_same_every_time(pool):
    family = seed_family("clinic-queue")
    found = ask_naive(family, LEVELS, 12, pool=pool, settings=SETTINGS)
    assert set(found) == {*NAIVE, POOL}
    assert all(len(own) == 12 for values in found.values() for own in values.values())
    own = shares(found)
    assert own["slips"][1] > own["slips"][7], "more data, more slips"
    assert own["guess"][7] < 0.5 and own["overlooks"][7] < 0.8
    assert own[POOL][1] == pytest.approx(fmean(own[name][1] for name in NAIVE))
    assert ask_naive(family, LEVELS, 12, pool=pool, settings=SETTINGS) == found


def test_a_question_of_many_correct_answers_is_judged_by_its_checkers(pool):
    found = ask_naive(seed_family("border-colours"), LEVELS, 8, pool=pool, settings=SETTINGS)
    assert "overlooks" not in found, "it has no rule that could be left out"
    assert 0 < shares(found)["slips"][1] <= 1


def test_a_program_without_an_end_on_what_it_misread_is_wrong_there_alone(pool):
    family = seed_family("clinic-queue")  # its questions have an odd number of patients
    start = '    patients = inputs["patients"]\n'
    endless = f"{start}    while len(patients) % 2 == 0:\n        pass\n"
    assert family.validator.count(start) == 1
    slow = replace(family, validator=family.validator.replace(start, endless))
    own, sound = (ask_naive(item, (7,), 10, pool=pool, settings=SETTINGS) for item in (slow, family))
    assert own["hasty"][7] == [0.0] * 10, "17 patients less 5 are 12"
    assert 0 < sum(own["skips"][7]) <= sum(sound["skips"][7])
    assert own["guess"] == sound["guess"]
