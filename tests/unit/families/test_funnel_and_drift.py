"""Counts and costs of a cycle by hand; pass@k of families against their parents."""

import json

import pytest

from evolake.families.evolution.cycle_measures import divergence, drift_summary, funnel_rows, resource_rows
from evolake.families.gates.specs import GATE_NAMES


def version(family_id: str, attempt: int, number: int, operator: str, cpu_s: float) -> dict:
    costs = {
        "execution": {"calls": 2, "cpu_s": cpu_s / 2, "wall_s": 1.0},
        "static": {"calls": 1, "cpu_s": cpu_s / 2, "wall_s": 1.0},
    }
    return {
        "family_id": family_id,
        "attempt": attempt,
        "round": number,
        "operator": operator,
        "costs": json.dumps(costs),
    }


CANDIDATES = [
    version("a", 0, 0, "pipe", 1.0),
    version("c", 1, 1, "pipe", 3.0),
    version("b", 1, 0, "pipe", 1.0),
    version("d", 2, 0, "switch", 6.0),
]
GATED = [
    *({"family_id": "a", "gate": gate, "passed": True} for gate in GATE_NAMES),
    {"family_id": "b", "gate": "execution", "passed": False},
    *({"family_id": "c", "gate": gate, "passed": True} for gate in GATE_NAMES),
    {"family_id": "d", "gate": "execution", "passed": True},
    {"family_id": "d", "gate": "static", "passed": False},
]


def test_every_gate_counts_who_came_and_who_passed():
    rows = {
        (row["operator"], row["gate"]): (row["came"], row["passed"], row["blocked"])
        for row in funnel_rows(CANDIDATES, GATED, "0001")
    }
    assert rows[("all", "execution")] == (4, 3, 1)
    assert rows[("all", "static")] == (3, 2, 1)
    assert rows[("all", "blind")] == (2, 2, 0)
    assert rows[("all", "attempts")] == (3, 2, 1)
    assert rows[("pipe", "attempts")] == (2, 2, 0)
    assert rows[("switch", "static")] == (1, 0, 1)
    assert ("switch", "consensus") not in rows


def test_attempts_that_brought_no_family_came_and_were_rejected():
    failed_proposals = [{"number": 3, "operator": "pipe"}, {"number": 4, "operator": "mutate"}]
    rows = {
        (row["operator"], row["gate"]): (row["came"], row["passed"], row["blocked"])
        for row in funnel_rows(CANDIDATES, GATED, "0001", failed_proposals)
    }
    assert [rows[(name, "attempts")] for name in ("all", "pipe", "mutate")] == [
        (5, 2, 3),
        (3, 2, 1),
        (1, 0, 1),
    ]
    spent = {
        row["outcome"]: row
        for row in resource_rows(CANDIDATES, {"a", "c"}, [], "0001", len(failed_proposals))
    }
    assert [
        (spent[name]["attempts"], spent[name]["versions"]) for name in ("accepted", "rejected", "all")
    ] == [(2, 3), (3, 1), (5, 4)]
    assert (spent["rejected"]["cpu_s_mean"], spent["all"]["attempts"]) == (2.0, 5)


def test_costs_count_every_version_and_money_the_rejected_too():
    calls = [
        {"artifact_id": "a", "usd": 0.5, "input_tokens": 10, "output_tokens": 1},
        {"artifact_id": "d", "usd": 1.5, "input_tokens": 30, "output_tokens": None},
        {"artifact_id": None, "usd": 1.0, "input_tokens": 5, "output_tokens": 5},
    ]
    rows = {row["outcome"]: row for row in resource_rows(CANDIDATES, {"a", "c"}, calls, "0001")}
    assert (rows["accepted"]["attempts"], rows["accepted"]["versions"], rows["accepted"]["cpu_s_mean"]) == (
        2,
        3,
        2.5,
    )
    assert (rows["rejected"]["attempts"], rows["rejected"]["cpu_s_mean"], rows["rejected"]["usd"]) == (
        1,
        6.0,
        1.5,
    )
    assert (rows["all"]["usd"], rows["all"]["usd_each"], rows["all"]["tokens"]) == (3.0, 1.5, 51)
    assert divergence(list(rows.values())) == pytest.approx(6.0 / 2.5)


def asked(pair: int, role: str, correct: int, samples: int = 8, difficulty: int = 5) -> dict:
    return {
        "family_id": f"f{pair}",
        "parent_id": f"p{pair}",
        "role": role,
        "difficulty": difficulty,
        "samples": samples,
        "correct": correct,
    }


def test_drift_is_the_mean_difference_of_pass_at_k_with_its_interval():
    rows = [
        asked(pair, role, correct) for pair in range(12) for role, correct in (("evolved", 4), ("parent", 6))
    ]
    result = {row["k"]: row for row in drift_summary(rows, "0001", 0)}
    assert set(result) == {1, 5, 8}
    assert (result[1]["pairs"], result[1]["parent"], result[1]["evolved"], result[1]["delta"]) == (
        12,
        0.75,
        0.5,
        -0.25,
    )
    assert (result[1]["low"], result[1]["high"]) == (-0.25, -0.25)  # every pair says the same
    assert result[5]["evolved"] == 1.0  # of eight with four right, any five hold one
