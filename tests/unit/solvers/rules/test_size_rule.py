"""The rule on decisions by exact sizes: it reads conflicts on formulas, their copies and padded copies, the
variant's next to its seed's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evolake.solvers.rules  # noqa: F401
from evolake.gates import Finding, load_rules
from evolake.gates.checkers import apply
from evolake.reading.formula import falsified_clauses, formula_of, padded
from evolake.solvers.gates.runs import carry_evidence

RULES = load_rules(Path(__file__).parents[4] / "data_lake" / "seeds" / "rules", "solvers")
RULE = next(rule for rule in RULES.rules if rule.id == "solvers-stability-not-by-size")


def formula(conflicts: list[int | None], padded_: list[int | None], name: str = "f") -> dict[str, Any]:
    return {
        "instance": name,
        "original": 1.0,
        "copies": [1.0] * (len(conflicts) - 1),
        **counts(conflicts, padded_),
    }


def counts(conflicts: list[int | None], padded_: list[int | None]) -> dict[str, Any]:
    """Return the conflicts of the copies 0, 1, 2, ... and those of the padded ones, which come after them."""
    return {
        "conflicts": {str(number): count for number, count in enumerate(conflicts)},
        "padded": {str(number): count for number, count in enumerate(padded_, start=3)},
    }


def judged(mine: list[dict[str, Any]], seeds: list[dict[str, Any]]) -> Finding | None:
    return apply(RULE.check, {"carried": mine, "base_carried": seeds}, RULE.parameters)


SEED = formula([500, 700, 900], [600, 800])


def test_another_search_on_all_copies_but_the_padded_ones_is_a_decision_by_size():
    found = judged([formula([300, 710, 950], [600, 800])], [SEED])
    assert found is not None and "by exact sizes" in str(found) and "300 conflicts against 500" in str(found)


def test_a_padded_search_that_ended_before_a_change_could_have_its_effect_proves_nothing():
    assert judged([formula([300, 710, 950], [200, 800])], [formula([500, 700, 900], [200, 800])]) is None


def test_another_search_on_one_padded_copy_of_another_formula_clears_a_variant():
    other = formula([700, 710, 720], [650, 660], "g")
    assert judged([formula([300, 710, 950], [600, 800]), other], [SEED, other]) is not None
    assert (
        judged(
            [formula([300, 710, 950], [600, 800]), other | counts([700, 710, 720], [650, 661])], [SEED, other]
        )
        is None
    )


@pytest.mark.parametrize(
    "mine",
    [
        formula([300, 550, 590], [601, 800]),
        formula([300, 700, 590], [600, 800]),
        formula([500, 700, 900], [600, 800]),
        formula([300, 550, None], [600, 800]),
        formula([300, 550, 590], [600, None]),
        formula([300], [600, 800]),
        formula([300, 550, 590], [600]),
    ],
    ids=[
        "padded differs",
        "a copy is equal",
        "all equal",
        "no answer",
        "no padded answer",
        "no copies",
        "one padded copy",
    ],
)
def test_what_proves_nothing_blocks_nothing(mine):
    assert judged([mine], [SEED]) is None


def test_a_run_that_the_clock_cut_is_compared_with_no_other_copy():
    whole = [
        run("f", 0, 300),
        run("f~carried1", 1, 550),
        run("f~carried2", 2, 590),
        run("f~padded3", 3, 600),
        run("f~padded4", 4, 800),
    ]
    assert judged(carry_evidence(whole), [SEED]) is not None
    for cut in range(1, 5):
        rows = [row | {"status": "clock"} if place == cut else row for place, row in enumerate(whole)]
        found = judged(carry_evidence(rows), [SEED])
        assert (found is not None) == (cut < 3), (
            "one copy is enough beside the formula, and both padded ones are needed"
        )


def test_short_searches_and_unknown_formulas_say_nothing():
    assert judged([formula([20, 30, 40], [60, 70])], [formula([21, 31, 41], [60, 70])]) is None
    assert judged([formula([300, 550, 590], [600, 800])], []) is None


def run(
    instance: str, shuffle: int, conflicts: int, answer: str | None = "SAT", status: str = "sat"
) -> dict[str, Any]:
    return {
        "instance": instance,
        "shuffle": shuffle,
        "conflicts": conflicts,
        "answer": answer,
        "status": status,
        "cpu_s": 0.5,
        "timeout_s": 2.0,
    }


def test_evidence_keeps_padded_copies_apart():
    rows = [
        run("a/f", 0, 5),
        run("a/f~carried1", 1, 6),
        run("a/f~carried2", 2, 7, answer=None),
        run("a/f~padded3", 3, 8),
        run("a/f~padded4", 4, 9),
    ]
    assert carry_evidence(rows) == [
        {"instance": "a/f", "original": 0.5, "copies": [0.5, 2.0], **counts([5, 6, None], [8, 9])}
    ]


@given(
    seed=st.integers(0, 2**32),
    clauses=st.lists(st.lists(st.sampled_from([-3, -2, -1, 1, 2, 3]), min_size=1, max_size=3), max_size=8),
)
def test_a_padded_formula_has_the_models_of_the_formula(seed, clauses):
    known = formula_of(3, clauses)
    result = padded(known, np.random.default_rng(seed))
    extra = result.variables - known.variables
    assert 3 <= extra <= 24 and result.clauses - known.clauses > extra
    for bits in range(8):
        model = np.array([value if bits >> value - 1 & 1 else -value for value in (1, 2, 3)], dtype=np.int32)
        whole = np.concatenate([model, np.arange(4, 4 + extra, dtype=np.int32)])
        assert (len(falsified_clauses(known, model)) == 0) == (len(falsified_clauses(result, whole)) == 0)
