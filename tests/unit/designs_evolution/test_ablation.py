"""One term at a time is left out, and what that changes is told by kind of formulas."""

import math

import pytest
from designs_genomes import MAJORITY_TERM, open_search

from evolake.designs.evolution.ablation import term_effects
from evolake.designs.evolution.racing import BudgetLevel, Stage
from evolake.designs.genome.open_ablation import ablations
from evolake.designs.genome.open_expression import order, places
from evolake.designs.model.instances import uniform_kind

RUNGS = (
    BudgetLevel(80, 8, 1, 5000),
    BudgetLevel(80, 8, 2, 5000, uniform_kind(4.2)),
    BudgetLevel(160, 8, 3, 5000),
    BudgetLevel(160, 8, 4, 5000, uniform_kind(4.2)),
)


def test_every_term_is_left_out_once_and_nothing_else_changes():
    whole = open_search()
    result = ablations(whole)
    terms = {str(item): item.genome for item in result}
    without = terms["force: -(k1 * square(at(v)))"]
    assert MAJORITY_TERM not in [held for _, held in places(without.drive("force"))]
    assert [order(without.drive(slot)) for slot in ("v", "xs", "xl")] == [
        order(whole.drive(slot)) for slot in ("v", "xs", "xl")
    ]
    assert len({item.genome.key() for item in result} | {whole.key()}) == len(result) + 1
    (memory,) = [item for item in result if item.slot == "memory"]
    assert memory.genome.memories == () and "m1 over each clause" in memory.term
    assert len(result) >= 10


def test_effects_are_told_by_kind_with_bounds():
    whole = [Stage(100, True, 0.1), Stage(900, True, 0.1), Stage(100, True, 0.1), Stage(900, True, 0.1)]
    without = [
        Stage(200, True, 0.1),
        Stage(100, True, 0.1),
        Stage(9999, False, 0.1, 800),
        Stage(100, True, 0.1),
    ]
    effects = term_effects("force: a", RUNGS, whole, without)
    assert [(item.kind, item.ratio, item.bound) for item in effects] == [
        ("planted", pytest.approx(math.sqrt(2 * 8)), "at least"),
        ("uniform", pytest.approx(1 / 9), ""),
    ]
    assert [str(item) for item in effects] == ["helps planted ones at least 4x", "costs uniform ones 9x"]
    assert {str(item) for item in term_effects("t", RUNGS, whole, whole)} == {
        "makes no difference on planted ones",
        "makes no difference on uniform ones",
    }
    costly = term_effects("t", RUNGS, whole, [Stage(50, True, 0.1), *whole[1:]])[0]
    assert str(costly) == "costs planted ones 1.4x"
