"""Metrics: the paper's table, by hand on small cases and by plain Python on random ones."""

import math

import duckdb
import numpy as np
import polars as pl
import pytest
from solver_runs import run_row

from evolake.solvers.measurement.metrics import (
    UNCHECKED,
    UNPROVED,
    VERIFIED,
    compute_metrics,
    counted,
    known_truth,
)
from evolake.solvers.tables import CUT_OFF_SHARES, METRICS, RUNS


def table(*rows: dict) -> pl.DataFrame:
    return RUNS.frame(rows)


def only(frame: pl.DataFrame, variant: str) -> dict:
    return frame.row(by_predicate=pl.col("variant_id") == variant, named=True)


def test_one_variant_by_hand():
    runs = table(
        run_row("v", "a", "sat", 0.5, peak_mb=10.0),
        run_row("v", "b", "unsat", 3.0, peak_mb=40.0),
        run_row("v", "c", "timeout", 10.1, expected="UNSAT", peak_mb=70.0),
        run_row("v", "d", "crash", 0.1, expected="SAT", peak_mb=0.0),
    )
    assert compute_metrics(runs).to_dicts() == [
        {
            "variant_id": "v",
            "cycle": "0001",
            "suite": "train",
            "timeout_s": 10.0,
            "instances": 4,
            "instances_sat": 2,
            "instances_unsat": 2,
            "runs": 4,
            "vbs_match": 2,
            "vbs_mismatch": 0,
            "wrong": 0,
            "unproved": 0,
            "failed": 1,
            "solved": 2.0,
            "solved_sat": 1.0,
            "solved_unsat": 1.0,
            "solved_within_6": 1.0,
            "solved_within_12": 1.0,
            "solved_within_20": 1.0,
            "solved_within_40": 2.0,
            "solved_within_60": 2.0,
            "solved_within_90": 2.0,
            "memory_mean_mb": 30.0,
            "memory_max_mb": 70.0,
            "additionally_solved": 0,
            "par2": 43.5 / 4,
            "par2_sat": 10.25,
            "par2_unsat": 11.5,
            "proof_share": 1.0,
            "checked_share": 1.0,
            "fastest": 2,
        }
    ]


def test_an_answer_without_a_proof_that_was_asked_for_is_unproved_and_unsolved():
    runs = table(
        run_row("v", "a", "unsat", 1.0, solved=False, certificate=None, proof_status="unknown"),
        run_row("v", "b", "unsat", 1.0, answer_checked=False, certificate=None, proof_status="unchecked"),
        run_row("v", "c", "unsat", 1.0),
    )
    row = only(compute_metrics(runs), "v")
    assert (row["unproved"], row["solved"], row["solved_unsat"], row["vbs_match"], row["par2"]) == (
        1,
        1.0,
        1.0,
        1,
        41.0 / 3,
    )
    assert (row["vbs_mismatch"], row["proof_share"], row["checked_share"]) == (
        0,
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("verified", (1, 0, 0)),
        ("refuted", (0, 1, 0)),
        ("missing", (0, 1, 0)),
        ("unsupported", (0, 1, 0)),
        ("unknown", (0, 1, 0)),
        ("unchecked", (0, 0, 1)),
        (None, (0, 0, 1)),
    ],
)
def test_an_unsat_answer_is_verified_unproved_or_unchecked_for_tables_and_for_sql(said, counts):
    certificate = "proof" if said == "verified" else None
    runs = table(
        run_row(
            "v",
            "a",
            "unsat",
            1.0,
            certificate=certificate,
            proof_status=said,
            answer_checked=said not in ("unchecked", None),
        ),
        run_row("v", "b", "sat", 1.0),
        run_row("v", "c", "timeout", 10.0, expected="UNSAT"),
    )
    metrics = compute_metrics(runs).row(0, named=True)
    assert (metrics["vbs_match"] - 1, metrics["unproved"], 1 - (metrics["checked_share"] or 0)) == counts
    conditions = (VERIFIED, UNPROVED, UNCHECKED)
    asked = duckdb.execute(f"SELECT {', '.join(map(counted, conditions))} FROM runs").fetchone()
    assert asked == counts == tuple(runs.filter(pl.sql_expr(condition)).height for condition in conditions)


def test_what_one_run_proves_is_the_truth_for_all():
    runs = table(
        run_row("v", "a", "sat", 1.0, expected="unknown"),
        run_row("w", "a", "timeout", 10.0, expected="unknown"),
        run_row("w", "b", "unsat", 1.0, expected="unknown", certificate=None, answer_checked=False),
    )
    assert known_truth(runs).sort("formula_sha").to_dicts() == [
        {"suite": "train", "formula_sha": "a", "truth": "SAT"},
        {"suite": "train", "formula_sha": "b", "truth": None},
    ]
    row = only(compute_metrics(runs), "w")
    assert (row["instances"], row["instances_sat"], row["instances_unsat"], row["vbs_match"]) == (2, 1, 0, 0)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_tables_agree_with_plain_python(seed):
    rng = np.random.default_rng(seed)
    rows = []
    for variant in ("p", "q", "r"):
        for number in range(30):
            expected = "SAT" if number % 2 else "UNSAT"
            status = str(rng.choice([expected.lower(), expected.lower(), "timeout", "wrong"]))
            wrong = {"answer": "UNSAT" if expected == "SAT" else "SAT"} if status == "wrong" else {}
            rows.append(
                run_row(
                    variant,
                    f"i{number}",
                    status,
                    round(float(rng.uniform(0, 10)), 3),
                    expected=expected,
                    **wrong,
                )
            )
    result = compute_metrics(table(*rows), baselines=["p", "q"])
    assert result.columns == list(METRICS.columns)
    for row in result.to_dicts():
        own = [other for other in rows if other["variant_id"] == row["variant_id"]]
        costs = [other["cpu_s"] if other["solved"] else 20.0 for other in own]
        assert row["par2"] == pytest.approx(math.fsum(costs) / 30)
        assert row["solved"] == sum(other["solved"] for other in own)
        assert row["wrong"] == row["vbs_mismatch"] == sum(other["status"] == "wrong" for other in own)
        for share in CUT_OFF_SHARES:
            assert row[f"solved_within_{share}"] == sum(
                other["solved"] and other["cpu_s"] <= share / 10 for other in own
            )
        rivals = {"p", "q"} - {row["variant_id"]}
        quickest = [
            min(
                item["cpu_s"] if item["solved"] else 20.0
                for item in rows
                if item["instance"] == other["instance"]
            )
            for other in own
        ]
        assert row["fastest"] == sum(
            other["solved"] and other["cpu_s"] == least for other, least in zip(own, quickest, strict=True)
        )
        beaten = {other["instance"] for other in rows if other["solved"] and other["variant_id"] in rivals}
        assert row["additionally_solved"] == len(
            {other["instance"] for other in own if other["solved"]} - beaten
        )


def test_a_wrong_answer_is_no_solution_and_a_mismatch():
    runs = table(
        run_row("v", "a", "wrong", 0.5, expected="SAT", answer="UNSAT", proof_status="refuted"),
        run_row("v", "b", "wrong", 0.5, expected="unknown", answer="SAT"),
        run_row("w", "b", "unsat", 1.0, expected="unknown"),
    )
    row = only(compute_metrics(runs), "v")
    assert (row["wrong"], row["solved"], row["vbs_match"], row["vbs_mismatch"], row["par2"]) == (
        2,
        0.0,
        0,
        2,
        20.0,
    )
