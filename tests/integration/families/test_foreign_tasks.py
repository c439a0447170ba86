"""Which of thirteen foreign tasks the gates accept, in their first form or after what a check lists was
corrected once."""

from __future__ import annotations

import pytest
from families_fixtures import RULES, judged, operators
from foreign_tasks import FIRST_FORM, MENDED

from evolake.families.commands.fault_places import all_faults
from evolake.families.gates.judging import FamilyGates
from evolake.families.settings import FamiliesSettings

SIZES = FamiliesSettings(instance_cpu_s=1.0, call_cpu_s=4.0, gate_difficulties=[1, 5, 10], execution_seeds=1)
"""Smaller samples than a check draws; with those the verdicts are the same (27 November 2026)."""
BLOCKED = {
    "game-of-life": "template.md",
    "base-conversion": "generator.py",
    "time-intervals": "generator.py",
    "stack-permutation": "template.md",
}
"""Task whose first form is blocked -> the file that the first fault names."""


def test_there_are_thirteen_and_what_is_blocked_at_first_is_mended():
    assert len(FIRST_FORM) == 13
    assert BLOCKED.keys() == MENDED.keys()


@pytest.mark.parametrize("name", [name for name in FIRST_FORM if name not in BLOCKED])
def test_a_task_comes_in_as_it_is(name, pool):
    seen = judged(FIRST_FORM[name], pool, settings=SIZES)
    assert seen.blocked_by is None
    assert [review for review in seen.reviews if not review.matched] == []


@pytest.mark.parametrize("name", BLOCKED)
def test_the_others_come_in_after_one_round_of_corrections(name, pool):
    seen = judged(MENDED[name], pool, settings=SIZES)
    assert seen.blocked_by is None
    assert [review for review in seen.reviews if not review.matched] == []


@pytest.mark.parametrize("name", BLOCKED)
def test_a_check_says_where_the_first_form_is_to_be_corrected(name, pool):
    first = all_faults(FIRST_FORM[name], FamilyGates(pool, operators(), RULES, SIZES, "0001", "test"), ())[0]
    assert (first.file, first.line > 0) == (BLOCKED[name], True)
