"""The study's numbers, recomputed independently: pandas for the counting, statsmodels and scipy for the tests
and intervals."""

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from repair_results import K, R, made_up_problems, made_up_results
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from evolake.errors import InputError
from evolake.repair.findings import analyse
from evolake.repair.names import ARMS, KNOWN_ARMS, ONE_SHOT
from evolake.repair.statistics import odds_ratio, ratio_interval
from evolake.repair.tables import SUMMARY

MAIN = made_up_problems(60)
SCALED = made_up_problems(20, variation="scale")
SUDOKU = made_up_problems(10, suite="sudoku4", base="sud")
PROBLEMS = pl.concat([MAIN, SCALED, SUDOKU])
RESULTS = pl.concat(
    [
        made_up_results(MAIN),
        made_up_results(SCALED, stream=1),
        made_up_results(SUDOKU, seeds=1, skill=dict.fromkeys(ARMS, 0.5), stream=2),
    ]
)


@pytest.fixture(scope="module")
def findings():
    return analyse(RESULTS, PROBLEMS, candidates=K, rounds=R, root_seed=0)


@pytest.fixture(scope="module")
def pandas_main():
    labels = dict(PROBLEMS.select("problem_id", "label").iter_rows())
    frame = RESULTS.filter((pl.col("suite") == "lia") & (pl.col("variation") == "none")).to_pandas()
    frame["label"] = frame["problem_id"].map(labels)
    return frame


def test_rates_counts_and_prices_are_those_that_pandas_counts(findings, pandas_main):
    for row in findings.of("summary").to_dicts():
        runs = pandas_main[pandas_main["arm"] == row["arm"]]
        solved = runs[runs["solved"]]
        expected = {
            "runs": 180,
            "problems": 60,
            "seeds": 3,
            "solved": len(solved),
            "rate": runs["solved"].mean(),
            "sat_runs": (runs["label"] == "sat").sum(),
            "sat_certified": (solved["label"] == "sat").sum(),
            "sat_rate": runs[runs["label"] == "sat"]["solved"].mean(),
            "unsat_rate": runs[runs["label"] == "unsat"]["solved"].mean(),
            "calls": runs["calls"].sum(),
            "calls_per_solve": runs["calls"].sum() / len(solved),
            "solver_calls_per_solve": runs["solver_calls"].sum() / len(solved),
            "budget_exceeded": runs["budget_exceeded"].sum(),
            "median_first_certified_call": solved["first_certified_call"].median(),
            "parse_failures": runs["parse_failures"].sum(),
            "latency_mean_s": runs["latency_s"].mean(),
            "latency_p95_s": np.percentile(runs["latency_s"], 95),
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_wilson_intervals_are_those_of_statsmodels(findings):
    for row in findings.summary.to_dicts():
        for count, runs, interval in (
            ("solved", "runs", "wilson"),
            ("sat_certified", "sat_runs", "sat"),
            ("unsat_certified", "unsat_runs", "unsat"),
        ):
            expected = proportion_confint(row[count], row[runs], method="wilson")
            assert (row[f"{interval}_low"], row[f"{interval}_high"]) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_and_holm_are_those_of_statsmodels(findings, pandas_main):
    solved = pandas_main.pivot_table(
        index=["problem_id", "seed"], columns="arm", values="solved", aggfunc="first"
    ).astype(bool)
    by_unit = {"run": solved, "problem": solved.groupby("problem_id").mean() > 0.5}
    for unit, table in by_unit.items():
        rows = findings.comparisons.filter(pl.col("unit") == unit).to_dicts()
        assert [(row["first"], row["second"]) for row in rows] == list(combinations(reversed(ARMS[1:]), 2))
        expected = []
        for row in rows:
            a, b = table[row["first"]], table[row["second"]]
            counts = [[int((a & b).sum()), int((a & ~b).sum())], [int((~a & b).sum()), int((~a & ~b).sum())]]
            assert [[row["both"], row["only_first"]], [row["only_second"], row["neither"]]] == counts
            assert row["difference"] == pytest.approx(a.mean() - b.mean())
            expected.append(mcnemar(counts, exact=True).pvalue)
        assert [row["p_value"] for row in rows] == pytest.approx(expected)
        assert [row["p_holm"] for row in rows] == pytest.approx(
            list(multipletests(expected, method="holm")[1])
        )


def test_holm_is_over_the_arms_that_ran_and_more_arms_leave_the_pairs_of_the_others_as_they_were():
    more = analyse(
        made_up_results(MAIN, arms=KNOWN_ARMS), MAIN, candidates=K, rounds=R, root_seed=0
    ).comparisons
    five = analyse(
        made_up_results(MAIN, arms=KNOWN_ARMS).filter(pl.col("arm").is_in(ARMS)),
        MAIN,
        candidates=K,
        rounds=R,
        root_seed=0,
    ).comparisons
    matched = [arm for arm in reversed(KNOWN_ARMS) if arm != ONE_SHOT]
    for unit in ("run", "problem"):
        rows = more.filter(pl.col("unit") == unit).to_dicts()
        assert [(row["first"], row["second"]) for row in rows] == list(combinations(matched, 2)) and len(
            rows
        ) == 45
        expected = multipletests([row["p_value"] for row in rows], method="holm")[1]
        assert [row["p_holm"] for row in rows] == pytest.approx(list(expected))
    keys = ["unit", "first", "second"]
    assert five.drop("p_holm").equals(
        five.select(keys)
        .join(more.drop("p_holm"), on=keys, maintain_order="left")
        .select(five.drop("p_holm").columns)
    )
    both = five.join(more, on=keys)
    assert (both["p_holm"] <= both["p_holm_right"]).all()


@pytest.mark.parametrize(("only_first", "only_second"), [(7, 3), (40, 41), (1, 0), (0, 5), (200, 2)])
def test_the_odds_ratio_and_its_interval_are_those_of_the_exact_binomial(only_first, only_second):
    result = odds_ratio(only_first, only_second)
    exact = binomtest(only_first, only_first + only_second).proportion_ci(method="exact")
    expected = [math.inf if p == 1 else p / (1 - p) for p in (exact.low, exact.high)]
    assert result is not None
    assert result.estimate == (math.inf if only_second == 0 else pytest.approx(only_first / only_second))
    assert [result.low, result.high] == pytest.approx(expected)


def test_the_bootstrap_interval_is_that_of_scipy(findings):
    from scipy.stats import bootstrap

    rng = np.random.default_rng(3)
    above, below = rng.integers(0, 9, 50), rng.integers(1, 4, 50)
    ours = ratio_interval(above, below, np.random.default_rng(0), resamples=20_000)
    theirs = bootstrap(
        (above, below),
        lambda a, b, axis=-1: a.sum(axis=axis) / b.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=0.02)
    assert ours.estimate == above.sum() / below.sum()


def test_runs_of_one_problem_count_as_one_draw():
    """Ten times the same runs a problem tell nothing new: the interval over problems stays as wide, Wilson's
    shrinks."""
    solved = np.array([1, 0] * 15, dtype=float)
    once = ratio_interval(solved, np.ones(30), np.random.default_rng(0))
    often = ratio_interval(10 * solved, np.full(30, 10.0), np.random.default_rng(0))
    assert (once.low, once.high) == (often.low, often.high)


def test_a_price_without_a_solve_is_infinite_in_a_resample_and_null_in_the_table():
    result = ratio_interval([4, 4, 4], [0, 0, 1], np.random.default_rng(0))
    assert (result.estimate, result.high) == (12.0, math.inf)
    nothing = made_up_results(MAIN, arms=("one_shot",), skill={"one_shot": -9})
    row = analyse(nothing, MAIN, candidates=K, rounds=R, root_seed=0).summary.to_dicts()[0]
    assert (row["solved"], row["calls_per_solve"], row["calls_per_solve_high"], row["rate"]) == (
        0,
        None,
        None,
        0.0,
    )


def test_convergence_grows_and_ends_in_the_solve_rate(findings):
    for arm in ARMS:
        rates = findings.of("convergence").filter(pl.col("arm") == arm).sort("round")["rate"].to_list()
        assert rates == sorted(rates)
        assert len(rates) == R
        assert rates[-1] == pytest.approx(findings.of("summary").filter(pl.col("arm") == arm)["rate"].item())


def test_an_arm_is_dominated_exactly_by_those_that_solve_more_for_less(findings):
    rows = findings.of("frontier").to_dicts()
    for mine in rows:
        better = {
            other["arm"]
            for other in rows
            if other["rate"] >= mine["rate"]
            and other["mean_solver_calls"] <= mine["mean_solver_calls"]
            and (other["rate"], other["mean_solver_calls"]) != (mine["rate"], mine["mean_solver_calls"])
        }
        assert (set(mine["dominated_by"]), mine["on_frontier"]) == (better, not better)
    assert any(row["on_frontier"] for row in rows)


def test_robustness_pairs_each_perturbed_run_with_that_of_its_origin(findings):
    base = {(row["arm"], row["seed"], row["problem_id"]): row["solved"] for row in RESULTS.to_dicts()}
    for row in findings.robustness.to_dicts():
        pairs = [
            (base[(row["arm"], run["seed"], run["problem_id"].split("~")[0])], run["solved"])
            for run in RESULTS.filter(
                (pl.col("variation") == "scale") & (pl.col("arm") == row["arm"])
            ).to_dicts()
        ]
        gained, lost = sum(not was and now for was, now in pairs), sum(was and not now for was, now in pairs)
        assert (row["pairs"], row["problems"], row["gained"], row["lost"]) == (60, 20, gained, lost)
        assert row["delta"] == pytest.approx((gained - lost) / 60)
        assert row["rate_after"] - row["rate_before"] == pytest.approx(row["delta"])
        assert row["delta_low"] <= row["delta"] <= row["delta_high"]
    assert set(findings.robustness["variation"]) == {"scale"}


def test_the_same_rows_in_any_order_give_the_same_findings(findings):
    again = analyse(
        RESULTS.sample(fraction=1, shuffle=True, seed=1),
        PROBLEMS.reverse(),
        candidates=K,
        rounds=R,
        root_seed=0,
    )
    for name, frame in findings.tables().items():
        assert frame.drop(SUMMARY.provenance, strict=False).equals(
            again.tables()[name].drop(SUMMARY.provenance, strict=False)
        ), name


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (RESULTS.filter(pl.col("suite") == "sudoku4"), "no results on the main benchmark"),
        (pl.concat([RESULTS, RESULTS.head(1)]), "a run is there more than once"),
        (
            RESULTS.with_columns(
                backend=pl.when(pl.col("seed") == 0).then(pl.lit("model")).otherwise("backend")
            ),
            "the results differ in backend",
        ),
        (RESULTS.with_columns(study_sha=pl.col("arm")), "the results differ in study_sha"),
        (RESULTS.tail(-1), "the arms have not run the same problems and seeds"),
        (
            RESULTS.with_columns(problem_id=pl.col("problem_id").str.replace("lin-0001", "lin-9999")),
            "names a problem that is not there",
        ),
    ],
)
def test_rows_that_are_not_one_study_are_refused(spoilt, said):
    with pytest.raises(InputError, match=said):
        analyse(spoilt, PROBLEMS, candidates=K, rounds=R, root_seed=0)
