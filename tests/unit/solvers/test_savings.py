"""What a variant saves against its parent, by family: from derivations and measured runs, kept in the
archive, and read from lakes of before."""

from __future__ import annotations

import pytest
from solver_runs import run_row

from evolake.errors import InputError
from evolake.solvers.evolution.population import Population, empty_population
from evolake.solvers.evolution.savings import FAMILIES, MOST_KEPT, SAVED, savings_of, with_savings
from evolake.solvers.roles.bandit import tries_on
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import RUNS

SETTINGS = SolversSettings()
SEED, CHILD, SIBLING = "a" * 64, "b" * 64, "c" * 64
TIMES = {
    SEED: {"x-1": 2.0, "x-2": 2.0, "y-1": 6.0},
    CHILD: {"x-1": 1.0, "x-2": 1.0, "y-1": 7.0},
    SIBLING: {"x-1": 2.0, "x-2": 2.0, "y-1": 3.0},
}


def runs(*names: str, **other) -> list[dict]:
    return [
        run_row(name, formula, "sat", seconds, **other)
        for name in names
        for formula, seconds in TIMES[name].items()
    ]


def derived(child: str, *parents: str, operator: str = "tunable") -> list[dict]:
    return [
        {
            "child_id": child,
            "parent_id": parent,
            "operator": operator,
            "weight": 1 / len(parents),
            "cycle": "0001",
        }
        for parent in parents
    ]


def test_savings_by_family_are_against_the_first_parent() -> None:
    rows = [*derived(CHILD, SEED), *derived(SIBLING, CHILD, SEED)]
    child, sibling = with_savings([], RUNS.frame(runs(SEED, CHILD, SIBLING)), rows, SETTINGS)
    assert child == {
        "variant_id": CHILD,
        "all": 0.1,
        "families": {"x": 0.5, "y": pytest.approx(-1 / 6, abs=1e-6)},
    }
    assert sibling["families"] == {"x": -1.0, "y": pytest.approx(4 / 7, abs=1e-6)}


def test_a_run_without_a_certificate_costs_twice_its_limit() -> None:
    lost = [
        row | {"solved": False, "certificate": None} if row["instance"] == "y-1" else row
        for row in runs(CHILD)
    ]
    [entry] = with_savings([], RUNS.frame([*runs(SEED), *lost]), derived(CHILD, SEED), SETTINGS)
    assert entry["families"]["y"] == pytest.approx(1 - 20 / 6)


def test_who_was_not_measured_with_its_parent_has_no_savings() -> None:
    assert with_savings([], RUNS.frame(runs(SEED)), derived(CHILD, SEED), SETTINGS) == []
    other = [row | {"instance": "z-9"} for row in runs(CHILD)[:1]]
    assert with_savings([], RUNS.frame([*runs(SEED), *other]), derived(CHILD, SEED), SETTINGS) == []


def test_who_ran_only_some_formulas_is_compared_on_those() -> None:
    some = [row for row in runs(CHILD) if row["instance"] != "x-2"]
    [entry] = with_savings([], RUNS.frame([*runs(SEED), *some]), derived(CHILD, SEED), SETTINGS)
    assert entry == {
        "variant_id": CHILD,
        "all": 0.0,
        "families": {"x": 0.5, "y": pytest.approx(-1 / 6, abs=1e-6)},
    }


def test_the_newest_are_kept_and_a_cycle_that_is_done_again_adds_nothing() -> None:
    old = [
        {"variant_id": f"{number:064d}", "all": 0.0, "families": {"x": 0.0}} for number in range(MOST_KEPT)
    ]
    frame = RUNS.frame(runs(SEED, CHILD))
    once = with_savings(old, frame, derived(CHILD, SEED), SETTINGS)
    assert len(once) == MOST_KEPT and once[-1]["variant_id"] == CHILD and once[0] == old[1]
    assert with_savings(once, frame, derived(CHILD, SEED), SETTINGS) == once


def test_no_run_of_the_holdout_reaches_the_bandit() -> None:
    frame = RUNS.frame(runs(SEED, CHILD, suite="holdout"))
    with pytest.raises(InputError, match="holdout"):
        with_savings([], frame, derived(CHILD, SEED), SETTINGS)


def history(variant: str, **other) -> dict:
    row = {
        "variant_id": variant,
        "cycle": "0001",
        "base": "b",
        "changed": ["tunable:o"],
        "outcome": "accepted",
        "gate": "",
        "gain": 0.5,
        "solved_gain": 0.0,
    }
    return row | other


def population(saved: list[dict] | None = None) -> Population:
    rows = [history(CHILD), history(SIBLING, outcome="blocked", gate="smoke", gain=None, changed=["patch:p"])]
    result = empty_population().with_tables(
        history=rows,
        derivations=[*derived(CHILD, SEED), *derived(SIBLING, SEED, CHILD, operator="combine")],
        runs=runs(SEED, CHILD),
    )
    return result if saved is None else result.with_values(**{SAVED: saved})


def test_the_bandit_learns_from_the_rows_of_the_archive() -> None:
    saved = with_savings([], RUNS.frame(runs(SEED, CHILD)), derived(CHILD, SEED), SETTINGS)
    result = savings_of(population(saved), SETTINGS)
    assert [(item.operator, item.changed, item.blocked) for item in result.credits] == [
        ("tunable", ["tunable:o"], False),
        ("combine", ["patch:p"], True),
    ]
    assert result.credits[0].savings == saved[0][FAMILIES] and result.helping == {CHILD}
    assert result.costs == {
        SEED: {"x": 0.4, "y": 0.6},
        CHILD: {"x": pytest.approx(2 / 9), "y": pytest.approx(7 / 9)},
    }


def test_a_lake_of_before_has_gains_in_ranks_only_and_is_read() -> None:
    result = savings_of(population(), SETTINGS)
    assert [item.worth for item in tries_on("b", result.costs[SEED], result.credits)] == [
        pytest.approx(0.05),
        -0.15,
    ]
    assert result.helping == frozenset()
    assert savings_of(empty_population(), SETTINGS).credits == []


def test_what_is_planned_follows_from_archive_and_seed() -> None:
    saved = with_savings([], RUNS.frame(runs(SEED, CHILD)), derived(CHILD, SEED), SETTINGS)
    again = population(saved).with_values(other=1)
    assert savings_of(again, SETTINGS) == savings_of(population(saved), SETTINGS)
