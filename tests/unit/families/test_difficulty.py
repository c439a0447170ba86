"""Difficulty across families: curves, agreement and the common scale, by hand and by what must hold for
all."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.families.dataset.difficulty import (
    CHILDREN,
    SEEDS,
    WORLDS,
    agreement,
    common_levels,
    curve,
    work_in,
    work_of,
)
from evolake.families.evolution.records import store_gate
from evolake.lake import BlobStore

EASY, HARD = ("easy", "seed", [(1, 10.0), (5, 50.0)]), ("hard", "pipe", [(1, 60.0), (5, 400.0)])
WORK = st.lists(st.lists(st.floats(0, 1e6), min_size=3, max_size=3), min_size=2, max_size=6)


def families(levels):
    return work_of(
        (str(place), "seed", zip((1, 5, 10), lines, strict=True)) for place, lines in enumerate(levels)
    )


def test_a_curve_has_the_quartiles_of_each_group_in_order():
    work = work_of([HARD, EASY, ("drawn", "constraint_world", [(1, 7.0)]), ("other", "seed", [(1, 30.0)])])
    assert curve(work).rows() == [
        (SEEDS, 1, 2, 15.0, 20.0, 25.0),
        (SEEDS, 5, 1, 50.0, 50.0, 50.0),
        (WORLDS, 1, 1, 7.0, 7.0, 7.0),
        (CHILDREN, 1, 1, 60.0, 60.0, 60.0),
        (CHILDREN, 5, 1, 400.0, 400.0, 400.0),
    ]


def test_work_is_that_of_the_stored_evidence_and_a_family_that_did_not_come_to_the_gate_has_none(tmp_path):
    blobs = BlobStore(tmp_path)
    came = json.dumps({"static": store_gate({"work": [[1, 10], [5, 50]]}, [], blobs)})
    rows = [
        {"family_id": "easy", "operator": "seed", "evidence": came},
        {"family_id": "early", "operator": "pipe", "evidence": "{}"},
        {"family_id": "bare", "operator": "pipe", "evidence": None},
    ]
    assert work_in(rows, blobs).equals(work_of([EASY]))


@given(WORK)
def test_agreement_is_that_of_all_pairs_one_by_one(levels):
    pairs = [
        (level[low], other[high])
        for place, level in enumerate(levels)
        for at, other in enumerate(levels)
        if place != at
        for low in range(3)
        for high in range(low + 1, 3)
    ]
    assert agreement(families(levels)) == pytest.approx(
        sum((low < high) + (low == high) / 2 for low, high in pairs) / len(pairs)
    )


@given(WORK, st.floats(0.5, 20))
def test_the_common_scale_is_the_median_family_s_and_follows_work(levels, factor):
    result = common_levels(families(levels)).sort("work")["common"].to_list()
    assert all(1 <= level <= 10 for level in result) and result == sorted(result)
    item = [10.0, 10.0 * (1 + factor), 10.0 * (1 + factor) ** 2]
    assert common_levels(families([item, item]))["common"].to_list() == pytest.approx([1, 5, 10] * 2)
