"""docs/costs.md says what the settings of each profile allow, so that its counts cannot go stale."""

import sys
from pathlib import Path

import pytest
from prompts_sizes import most_of

from evolake.prompts.settings import PromptsSettings

ROOT = Path(__file__).parents[3]


@pytest.fixture
def generator(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generate"))
    import training_costs

    yield training_costs
    for name in ("training_costs", "cells"):
        sys.modules.pop(name, None)


def test_the_page_has_the_counts_of_the_settings(generator):
    page = generator.PAGE.read_text(encoding="utf-8")
    assert generator.written(page) == page, "run python docs/generate/training_costs.py"
    assert generator.written(page.replace("| `demo` | 1 x 4", "| `demo` | 1 x 5")) == page


def test_a_page_without_its_marks_is_an_error(generator):
    with pytest.raises(ValueError, match="0 places for prompts"):
        generator.written("# What it costs\n")


def test_a_cycle_asks_three_prompts_held_out_problems_and_the_base_in_the_first():
    sizes = PromptsSettings(
        iterations_per_cycle=2,
        batch_problems=3,
        prompts_per_iteration=2,
        rollouts=5,
        duel_problems=7,
        duel_samples=2,
        heldout_problems=11,
        heldout_samples=3,
        max_tokens=13,
    )
    most = most_of(sizes)
    assert (most.learnt, most.duels, most.heldout, most.base, most.updates) == (
        2 * 3 * 2 * 5,
        2 * 7 * 2,
        3 * 11 * 3,
        11 * 3,
        2,
    )
    assert (most.replies(first=False), most.sampled(first=True)) == (60 + 28 + 99, (60 + 28 + 99 + 33) * 13)
