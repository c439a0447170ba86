"""The consensus against a plain transcription of the formulas, and the laws it must obey."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau, rankdata

from evolake.objectives.consensus import aggregate
from evolake.objectives.long_consensus import estimate_consensus, rank_long

LEVELS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 10.0, np.inf, np.nan])
COUNTS = st.floats(0, 3, width=32)


@st.composite
def portfolios(draw, min_designs=1):
    """Scores, creation rounds, current round and multipliers."""
    k, n = draw(st.integers(1, 6)), draw(st.integers(min_designs, 15))
    scores = draw(arrays(np.float64, (k, n), elements=LEVELS))
    created = draw(st.lists(st.integers(0, 9), min_size=k, max_size=k))
    multipliers = draw(st.none() | st.lists(COUNTS, min_size=k, max_size=k))
    return scores, created, max(created) + draw(st.integers(0, 3)), multipliers


def plain(scores, created, now, multipliers, decay=0.9):
    """The formulas as written, one loop a sum."""
    filled = np.where(np.isnan(scores), np.inf, scores)
    k, n = filled.shape
    ranks = [rankdata(row) - 1 for row in filled]
    tau = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            if np.ptp(ranks[i]) > 0 and np.ptp(ranks[j]) > 0:
                tau[i, j] = kendalltau(ranks[i], ranks[j]).statistic
    median = [float(np.median([tau[i, j] for j in range(k) if j != i])) if k > 1 else 0.0 for i in range(k)]
    weights = np.array([max(median[i], 0) * decay ** (now - created[i]) for i in range(k)])
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(k, 1 / k)
    if multipliers is not None and (weights * multipliers).sum() > 0:
        weights = weights * multipliers / (weights * multipliers).sum()
    consensus = sum(weights[i] * ranks[i] / (n - 1) for i in range(k)) if n > 1 else np.zeros(1)
    return weights, median, tau, consensus


@settings(deadline=None)
@given(portfolios())
def test_agrees_with_the_formulas(portfolio):
    result = aggregate(*portfolio[:3], multipliers=portfolio[3])
    weights, median, tau, consensus = plain(*portfolio)
    np.testing.assert_allclose(result.tau, tau, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.median_tau, median, rtol=0, atol=1e-12)
    np.testing.assert_allclose(result.weights, weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.consensus, consensus, rtol=0, atol=1e-9)


@settings(deadline=None)
@given(portfolios())
def test_weights_are_shares_and_the_consensus_stays_in_the_unit_interval(portfolio):
    result = aggregate(*portfolio[:3], multipliers=portfolio[3])
    assert result.weights.min() >= 0
    assert result.weights.sum() == pytest.approx(1, abs=1e-12)
    assert result.consensus.min() >= 0
    assert result.consensus.max() <= 1
    assert sorted(result.order) == list(range(portfolio[0].shape[1]))
    assert (np.diff(result.consensus[result.order]) > -1e-12).all()


@settings(deadline=None)
@given(portfolios(), st.randoms(use_true_random=False))
def test_renaming_designs_permutes_the_answer(portfolio, random):
    scores, created, now, multipliers = portfolio
    ids = np.arange(scores.shape[1]) * 10
    shuffled = np.array(random.sample(range(len(ids)), len(ids)))
    before = aggregate(scores, created, now, multipliers=multipliers, ids=ids.tolist())
    after = aggregate(scores[:, shuffled], created, now, multipliers=multipliers, ids=ids[shuffled].tolist())
    np.testing.assert_array_equal(after.consensus, before.consensus[shuffled])
    np.testing.assert_array_equal(ids[shuffled][after.order], ids[before.order])


@settings(deadline=None)
@given(portfolios(), st.randoms(use_true_random=False))
def test_the_order_of_the_objectives_does_not_matter(portfolio, random):
    scores, created, now, multipliers = portfolio
    shuffled = random.sample(range(len(scores)), len(scores))
    before = aggregate(scores, created, now, multipliers=multipliers)
    after = aggregate(
        scores[shuffled],
        [created[i] for i in shuffled],
        now,
        multipliers=None if multipliers is None else [multipliers[i] for i in shuffled],
    )
    np.testing.assert_array_equal(after.weights, before.weights[shuffled])
    np.testing.assert_array_equal(after.consensus, before.consensus)
    np.testing.assert_array_equal(after.order, before.order)


@settings(deadline=None)
@given(portfolios())
def test_only_the_ranks_of_an_objective_count(portfolio):
    scores, created, now, multipliers = portfolio
    stretched = scores.copy()
    stretched[0] = np.where(np.isfinite(scores[0]), np.exp(scores[0]) - 5, scores[0])
    before = aggregate(scores, created, now, multipliers=multipliers)
    after = aggregate(stretched, created, now, multipliers=multipliers)
    np.testing.assert_array_equal(after.consensus, before.consensus)
    np.testing.assert_array_equal(after.order, before.order)


@settings(deadline=None)
@given(portfolios(), st.integers(1, 5000))
def test_time_passing_for_all_changes_nothing(portfolio, rounds):
    scores, created, now, multipliers = portfolio
    before = aggregate(scores, created, now, multipliers=multipliers)
    after = aggregate(scores, created, now + rounds, multipliers=multipliers)
    np.testing.assert_array_equal(after.weights, before.weights)


def test_missing_scores_are_the_worst_and_tie():
    result = aggregate([[1.0, None, 2.0, np.nan, np.inf]], [0], 0)
    np.testing.assert_array_equal(result.consensus, [0, 0.75, 0.25, 0.75, 0.75])
    np.testing.assert_array_equal(result.order, [0, 2, 1, 3, 4])


def test_one_objective_has_all_the_weight():
    result = aggregate([[3.0, 1.0, 2.0]], [4], 9)
    np.testing.assert_array_equal(result.weights, [1])
    np.testing.assert_array_equal(result.median_tau, [0])
    np.testing.assert_array_equal(result.order, [1, 2, 0])


def test_one_design_has_consensus_zero():
    result = aggregate([[3.0], [np.inf]], [0, 1], 1)
    np.testing.assert_array_equal(result.consensus, [0])
    np.testing.assert_array_equal(result.weights, [0.5, 0.5])
    np.testing.assert_array_equal(result.order, [0])


def test_a_constant_objective_has_no_voice():
    result = aggregate([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0], [1.0, 2.0, 4.0], [0.0, 1.0, 9.0]], [0, 0, 0, 0], 0)
    assert result.weights[1] == 0
    np.testing.assert_allclose(result.weights[[0, 2, 3]], [1 / 3] * 3)


def test_nobody_agreeing_means_equal_weights():
    result = aggregate([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], [0, 5], 5)
    np.testing.assert_array_equal(result.weights, [0.5, 0.5])
    np.testing.assert_array_equal(result.consensus, [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(result.order, [0, 1, 2])


def test_multipliers_scale_and_all_zero_leaves_the_weights():
    scores = [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]
    np.testing.assert_allclose(
        aggregate(scores, [0, 0, 0], 0, multipliers=[2, 1, 0]).weights, [2 / 3, 1 / 3, 0]
    )
    np.testing.assert_allclose(aggregate(scores, [0, 0, 0], 0, multipliers=[0, 0, 0]).weights, [1 / 3] * 3)


def test_huge_multipliers_do_not_overflow():
    result = aggregate([[1.0, 2.0], [1.0, 2.0]], [0, 0], 0, multipliers=[1e308, 1e308])
    np.testing.assert_array_equal(result.weights, [0.5, 0.5])


# Long tables: ids keep their type, missing pairs are the worst, and a design not stored yet gets the rank
# it would have.


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


TABLE_LEVELS = st.sampled_from([0.0, 1.0, 2.0, 5.0, np.inf, np.nan])


@settings(deadline=None)
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 12)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=TABLE_LEVELS)
    ),
    st.data(),
)
def test_the_estimate_is_the_rank_the_design_would_have(stored, data):
    fresh = data.draw(arrays(np.float64, (len(stored), 1), elements=TABLE_LEVELS))
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


@pytest.mark.parametrize("clones", [1, 2, 7, 40])
def test_clones_of_a_bad_objective_have_the_weight_of_one(clones):
    """Five objectives see the truth with noise; the clones rank at random, alike but for two neighbours."""
    random, n = np.random.default_rng(3), 40
    good = np.arange(n) + random.normal(0, 6, size=(5, n))
    bad = np.tile(random.permutation(n).astype(float), (clones, 1))
    for place, row in enumerate(bad):
        low, high = np.argsort(row)[[place % (n - 1), place % (n - 1) + 1]]
        row[low], row[high] = row[high], row[low]
    result = aggregate(np.vstack([good, bad]), np.zeros(5 + clones), 0)
    assert result.weights[5:].sum() < 0.1
    assert np.corrcoef(result.consensus, np.arange(n))[0, 1] > 0.9
    alone = aggregate(np.vstack([good, bad[:1]]), np.zeros(6), 0)
    assert result.weights[5:].sum() == pytest.approx(alone.weights[5], rel=0.05)
    few = aggregate(np.vstack([good, bad])[:, :19], np.zeros(5 + clones), 0)
    assert clones < 7 or few.weights[5:].sum() > 0.5
