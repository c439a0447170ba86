"""Perturbed problems are the same problem in other words, and the transfer's problems are the grids they were
made from."""

from itertools import product

import numpy as np
import pytest

from evolake.errors import MachineryError
from evolake.repair.benchmark import (
    EMPTY,
    completions,
    decode,
    drawn_grid,
    encode,
    has_clash,
    spoilt,
    transfer_rows,
)
from evolake.repair.certifier import Certifier
from evolake.repair.generator import PERTURBATIONS, generate, perturbed, perturbed_rows, verified
from evolake.repair.problems import Problem, parse_problem
from evolake.repair.tables import PROBLEMS

ORIGINS = [item.problem for item in generate(12, 5)]
SOLVED = ((1, 2, 3, 4), (3, 4, 1, 2), (2, 1, 4, 3), (4, 3, 2, 1))


def solutions(problem: Problem) -> set[tuple[int, ...]]:
    """Every solution of a small problem, by trying all assignments."""
    names = [variable.name for variable in problem.variables]
    every = product(*(range(variable.low, variable.high + 1) for variable in problem.variables))
    return {values for values in every if not problem.violated(dict(zip(names, values, strict=True)))}


@pytest.mark.parametrize(
    "origin", [origin for origin in ORIGINS if len(origin.variables) <= 4][:3], ids=lambda item: item.id
)
@pytest.mark.parametrize("variation", ["scale", "permute"])
def test_scaling_and_permuting_keep_exactly_the_solutions(origin, variation):
    assert solutions(perturbed(origin, variation, 0)) == solutions(origin)


@pytest.mark.parametrize(
    "origin", [origin for origin in ORIGINS if len(origin.variables) <= 4][:3], ids=lambda item: item.id
)
def test_relabelling_keeps_the_solutions_up_to_one_permutation_of_the_names(origin):
    from itertools import permutations

    result, before = solutions(perturbed(origin, "relabel", 0)), solutions(origin)
    orders = permutations(range(len(origin.variables)))
    assert any({tuple(values[place] for place in order) for values in before} == result for order in orders)


@pytest.mark.parametrize("origin", ORIGINS, ids=lambda item: item.id)
@pytest.mark.parametrize("variation", PERTURBATIONS)
def test_a_perturbation_changes_the_words_and_the_same_seed_gives_the_same_words(origin, variation):
    changed = perturbed(origin, variation, 0)
    assert changed.id == f"{origin.id}~{variation}"
    assert (changed.variables, changed.constraints) != (origin.variables, origin.constraints)
    assert perturbed(origin, variation, 0) == changed
    assert len(changed.constraints) == len(origin.constraints)
    assert parse_problem(changed.to_json()) == changed


def test_every_perturbed_problem_is_labelled_again_by_two_certifiers():
    rows = [{"problem_id": origin.id, "json": origin.to_json()} for origin in ORIGINS]
    labels = {origin.id: origin.label for origin in ORIGINS}
    result = PROBLEMS.frame(perturbed_rows(rows, 0, timeout_ms=1500)).to_dicts()
    assert [(row["base_id"], row["variation"]) for row in result] == [
        (origin.id, variation) for origin in ORIGINS for variation in PERTURBATIONS
    ]
    assert all(row["label"] == labels[row["base_id"]] for row in result)
    assert {tuple(row["certified_by"]) for row in result} == {("z3", "interval_enumeration")}


def test_a_perturbation_that_changed_the_label_would_stop_the_study():
    origin = next(item for item in ORIGINS if item.label == "sat")
    other = next(item for item in ORIGINS if item.label == "unsat")
    with pytest.raises(MachineryError, match="could not be certified"):
        verified(other, origin, Certifier())


@pytest.mark.parametrize("spoil", [False, True])
def test_solutions_of_the_encoding_are_the_completions_of_the_grid(spoil):
    rng = np.random.default_rng(1)
    seen = []
    while len(seen) < 8:
        grid = drawn_grid(rng, 6)
        grid = spoilt(grid, rng) if spoil else grid
        problem = None if has_clash(grid) else encode(grid, "sud-0000")
        if problem is None or len(problem.variables) > 14:
            continue
        names = [variable.name for variable in problem.variables]
        result = [decode(grid, dict(zip(names, values, strict=True))) for values in solutions(problem)]
        assert sorted(result) == sorted(completions(grid))
        seen.append(len(result))
    assert (min(seen) == 0) == spoil


def test_a_grid_whose_contradiction_is_seen_at_once_is_no_problem():
    no_value = ((EMPTY, 2, 3, EMPTY), (1, EMPTY, EMPTY, EMPTY), (EMPTY,) * 4, (4, EMPTY, EMPTY, EMPTY))
    assert not has_clash(no_value)
    assert encode(no_value, "sud-0000") is None
    assert encode(SOLVED, "sud-0001") is None
    assert has_clash(((1, 1, 0, 0), *SOLVED[1:]))


def test_the_transfer_has_the_shares_of_the_main_benchmark_and_two_certifiers():
    rows = PROBLEMS.frame(transfer_rows(10, 3, timeout_ms=1500))
    assert rows["label"].value_counts().sort("label").rows() == [("sat", 6), ("unsat", 4)]
    assert rows.filter(rows["label"] == "unsat")["core_size"].min() >= 2
    assert {tuple(names) for names in rows["certified_by"]} == {("z3", "grid_backtracking")}
    assert (set(rows["suite"]), rows["problem_id"].n_unique()) == ({"sudoku4"}, 10)
    assert rows.equals(PROBLEMS.frame(transfer_rows(10, 3, timeout_ms=1500)))
