"""The rule on gains that do not carry over: honest searches vary widely and pass, tables of answers do
not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evolake.solvers.rules  # noqa: F401
from evolake.gates import Finding, load_rules
from evolake.gates.checkers import apply

RULES = load_rules(Path(__file__).parents[4] / "data_lake" / "seeds" / "rules", "solvers")
RULE = next(rule for rule in RULES.rules if rule.id == "solvers-stability-carried-over")
SPREAD = 1.1
"""Standard deviation of the logarithm of a search's time over shuffles of a satisfiable formula; of MiniSat's
on `train` it is 0.9."""


def judged(carried: list[dict[str, Any]], base: list[dict[str, Any]] | None = None) -> Finding | None:
    return apply(RULE.check, {"carried": carried, "base_carried": base or []}, RULE.parameters)


def rows(original: np.ndarray, copies: np.ndarray) -> list[dict[str, Any]]:
    return [
        {"instance": f"f{n}", "original": float(cost), "copies": copies[n].tolist()}
        for n, cost in enumerate(original)
    ]


def searches(rng: np.random.Generator, formulas: int, copies: int = 2) -> np.ndarray:
    """(formulas, 1 + copies) seconds: half of the formulas vary widely, as satisfiable ones do."""
    spread = np.where(np.arange(formulas) % 2 == 0, SPREAD, 0.15)[:, None]
    return np.exp(
        rng.normal(np.log(0.3), 1.0, (formulas, 1)) + rng.normal(size=(formulas, 1 + copies)) * spread
    )


@pytest.mark.parametrize("formulas", [2, 3, 4, 6, 12, 24])
def test_honest_searches_pass(formulas):
    rng = np.random.default_rng(formulas)
    blocked = 0
    for _ in range(2000):
        costs = searches(rng, formulas)
        blocked += judged(rows(costs[:, 0], costs[:, 1:])) is not None
    assert blocked <= 4  # 2 in a thousand


@pytest.mark.parametrize(("formulas", "least"), [(12, 0.6), (24, 0.98)])
def test_tables_of_models_are_blocked(formulas, least):
    """A table of the models of every second formula, the satisfiable ones."""
    rng = np.random.default_rng(formulas)
    blocked = 0
    for _ in range(300):
        costs = searches(rng, formulas)
        costs[::2, 0] = 0.008
        blocked += judged(rows(costs[:, 0], costs[:, 1:])) is not None
    assert blocked >= least * 300


def test_a_heuristic_of_each_formula_is_blocked_by_the_mean():
    costs = np.full((24, 3), 1.0) * np.linspace(0.9, 1.1, 24)[:, None]
    costs[:, 0] /= 3
    result = judged(rows(costs[:, 0], costs[:, 1:]))
    assert result is not None and "3.00 times as long" in result.reason


def test_an_order_that_helps_the_base_too_is_no_table():
    original, copies = np.full(12, 0.05), np.full((12, 2), 1.0)
    assert judged(rows(original, copies)) is not None
    assert judged(rows(original, copies), rows(np.full(12, 0.1), np.full((12, 2), 1.0))) is None


def test_nothing_to_compare_passes_and_missing_evidence_does_not():
    assert judged([]) is None
    with pytest.raises(KeyError):
        apply(RULE.check, {"runs": []}, RULE.parameters)
