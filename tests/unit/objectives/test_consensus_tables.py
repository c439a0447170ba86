"""Long tables: ids keep their type, missing pairs are the worst, and a design not stored yet gets the rank it
would have."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evolake.errors import InputError
from evolake.objectives.consensus import aggregate
from evolake.objectives.long_consensus import estimate_consensus, rank_long


def long_table(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["objective_id", "design_id", "score"], orient="row")


def test_a_long_table_ranks_like_its_matrix_whatever_the_row_order():
    scores = np.array([[3.0, 1.0, np.inf, 2.0], [4.0, 1.0, 3.0, 2.0], [1.0, 2.0, 3.0, np.inf]])
    names = ["d", "a", "c", "b"]
    rows = [(i, names[j], scores[i, j]) for i in range(3) for j in range(4) if np.isfinite(scores[i, j])]
    expected = aggregate(scores, [0, 1, 2], 3, multipliers=[1, 0.5, 1], ids=names)
    for table in (long_table(rows), long_table(rows[::-1])):
        ranking = rank_long(table, {"0": 0, "1": 1, "2": 2, "9": 0}, 3, multipliers={"1": 0.5})
        assert ranking.order == [names[j] for j in expected.order]
        answer = ranking.to_json()
        assert answer["weights"] == pytest.approx({str(i): w for i, w in enumerate(expected.weights)})
        assert answer["median_tau"] == pytest.approx({str(i): t for i, t in enumerate(expected.median_tau)})
        assert answer["consensus"] == pytest.approx(dict(zip(names, expected.consensus, strict=True)))
        assert answer["verdict"] == "ranked"


def test_integer_ids_stay_integers_and_sort_as_numbers_in_ties():
    ranking = rank_long(long_table([(7, 10, 1.0), (7, 9, 1.0), (7, 100, None)]), {7: 0}, 0)
    assert ranking.order == [9, 10, 100]
    assert ranking.to_json()["consensus"] == {"9": 0.25, "10": 0.25, "100": 1.0}


def test_null_nan_and_absent_are_all_missing():
    rows = [("f", "a", 1.0), ("f", "b", None), ("f", "c", float("nan")), ("g", "a", 1.0), ("g", "d", 2.0)]
    ranking = rank_long(long_table(rows), {"f": 0, "g": 0}, 0)
    np.testing.assert_array_equal(ranking.scores, [[1, np.inf, np.inf, np.inf], [1, np.inf, np.inf, 2]])


def test_categorical_ids_and_whole_number_scores_are_fine():
    table = long_table([("f", "a", 2), ("f", "b", 1)]).with_columns(pl.col("design_id").cast(pl.Categorical))
    assert rank_long(table, {"f": 0}, 0).order == ["b", "a"]


@pytest.mark.parametrize(
    ("table", "created", "multipliers", "message"),
    [
        (long_table([("f", "a", 1.0)]).rename({"score": "value"}), {"f": 0}, None, "lacks score"),
        (long_table([("f", "a", 1.0)]).clear(), {"f": 0}, None, "no rows"),
        (long_table([("f", None, 1.0), ("f", "a", 1.0)]), {"f": 0}, None, "design_id is null in 1 rows"),
        (long_table([("f", "a", 1.0), ("f", "a", 2.0)]), {"f": 0}, None, "objective f, design a in 2 rows"),
        (long_table([(0.5, "a", 1.0)]), {"0.5": 0}, None, "cannot hold ids"),
        (long_table([("f", "a", "1.0")]), {"f": 0}, None, "cannot hold scores"),
        (long_table([("f", "a", 1.0)]), {"g": 0}, None, "objective f has no creation round"),
        (long_table([("f", "a", 1.0)]), {"f": 1.5}, None, "creation round of objective f"),
        (long_table([("f", "a", 1.0)]), {"f": True}, None, "creation round of objective f"),
        (long_table([("f", "a", 1.0)]), {"f": 5}, None, "after the current round"),
        (long_table([("f", "a", 1.0)]), {"f": 0}, {"h": 1.0}, "unknown objective: h"),
        (long_table([("f", "a", 1.0)]), {"f": 0}, {"f": float("nan")}, "multiplier of objective f"),
        (long_table([("f", "a", 1.0)]), {"f": 0}, {"f": -1}, "multiplier of objective f"),
        (long_table([("f", "a", 1.0)]), {"f": 0}, {"f": "1"}, "multiplier of objective f"),
    ],
)
def test_bad_tables_are_refused(table, created, multipliers, message):
    with pytest.raises(InputError, match=message):
        rank_long(table, created, 3, multipliers=multipliers)


LEVELS = st.sampled_from([0.0, 1.0, 2.0, 5.0, np.inf, np.nan])


@settings(deadline=None)
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 12)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=LEVELS)
    ),
    st.data(),
)
def test_the_estimate_is_the_rank_the_design_would_have(stored, data):
    fresh = data.draw(arrays(np.float64, (len(stored), 1), elements=LEVELS))
    weights = np.full(len(stored), 1 / len(stored))
    together = np.concatenate([stored, fresh], axis=1)
    ranks = np.array([aggregate(row[None, :], [0], 0).consensus[-1] for row in together])
    assert estimate_consensus(stored, weights, fresh)[0] == pytest.approx(ranks.mean(), abs=1e-12)


def test_a_ranking_estimates_a_design_that_is_not_stored():
    ranking = rank_long(
        long_table([("f", "a", 1.0), ("f", "b", 3.0), ("g", "a", 1.0), ("g", "b", 2.0)]), {"f": 0, "g": 0}, 0
    )
    assert ranking.estimate({"f": 2.0, "g": 0.5}) == pytest.approx(0.25)
    assert ranking.estimate({}) == 1.0
