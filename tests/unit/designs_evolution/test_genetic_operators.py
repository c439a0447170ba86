"""How designs without a genome are varied, and how values move."""

from __future__ import annotations

import numpy as np
import pytest
from designs_genomes import open_search
from hypothesis import given
from hypothesis import strategies as st

from evolake.designs.genome.open_genetic import parent_of, propose, scales_of
from evolake.designs.genome.open_genome import baseline, with_values
from evolake.designs.genome.variation import (
    Parent,
    Scale,
    design_key,
    moved_value,
    perturbed_values,
    short_title,
)

FILE = Parent(
    "file",
    "from a file",
    "SOURCE",
    {"a": 1.0, "k": 3, "mode": "x", "fixed": 2.0},
    (
        Scale("a", "log_uniform", 0.1, 10.0),
        Scale("k", "int", 1, 5),
        Scale("mode", "categorical", choices=("x", "y")),
        Scale("fixed", "uniform", 2.0, 2.0),
    ),
)


def test_a_design_from_a_file_can_only_be_perturbed_and_keeps_its_text() -> None:
    donor = parent_of("s", "open search", open_search())
    for seed in range(20):
        child = propose([FILE, donor], set(), np.random.default_rng(seed), operator="crossover")
        assert child is not None
        assert (child.operator, child.source, child.genome, child.weights) == (
            "perturb",
            "SOURCE",
            None,
            (("file", 1.0),),
        )
        assert child.hyper != FILE.values
        assert child.hyper["fixed"] == 2.0 and 0.1 <= float(child.hyper["a"]) <= 10.0
        assert child.hyper["k"] in (1, 2, 3, 4, 5) and child.hyper["mode"] in ("x", "y")


def test_a_file_is_no_donor() -> None:
    child = propose(
        [parent_of("b", "b", baseline()), FILE], set(), np.random.default_rng(1), operator="crossover"
    )
    assert child is not None
    assert child.weights == (("b", 1.0),)


def test_nothing_new_is_none() -> None:
    stuck = Parent("s", "s", "SOURCE", {"mode": "x"}, (Scale("mode", "categorical", choices=("x", "y")),))
    known = {design_key(None, "SOURCE", {"mode": "y"})}
    assert propose([stuck], known, np.random.default_rng(0)) is None


@given(st.integers(0, 2**32 - 1))
def test_perturbation_moves_at_least_one_value_and_at_most_a_third(seed: int) -> None:
    values = open_search().values()
    moved = perturbed_values(values, scales_of(open_search()), np.random.default_rng(seed))
    changed = [name for name in values if moved[name] != values[name]]
    assert set(moved) == set(values)
    assert len(changed) <= -(-len(values) // 3)


def test_steps_are_on_the_scale_of_the_parameter() -> None:
    log, linear = Scale("x", "log_uniform", 1.0, 1e4), Scale("x", "uniform", 0.0, 1.0)
    random = np.random.default_rng(0)
    ratios = [float(moved_value(log, 100.0, 0.1, random)) / 100.0 for _ in range(400)]
    steps = [float(moved_value(linear, 0.5, 0.1, random)) - 0.5 for _ in range(400)]
    assert np.std(np.log(ratios)) == pytest.approx(0.1 * np.log(1e4), rel=0.15)
    assert np.std(steps) == pytest.approx(0.1, rel=0.15)


def test_an_int_always_moves_by_a_whole_step_unless_at_its_bound() -> None:
    random = np.random.default_rng(0)
    seen = {moved_value(Scale("k", "int", 1, 4), 2, 0.01, random) for _ in range(50)}
    assert 2 not in seen and seen <= {1, 3, 4} and {1, 3} <= seen


def test_with_values_replaces_by_name_and_keeps_the_rest() -> None:
    result = with_values(open_search(), {"lr": 2.0, "gamma": 0.2, "unknown": 5.0})
    assert result.values() == open_search().values() | {"lr": 2.0, "gamma": 0.2}


def test_a_title_names_the_parent_and_fits() -> None:
    assert short_title("add xl_gain", "0123456789abcdef") == "add xl_gain on 012345"
    assert len(short_title("perturb " + "parameter, " * 20, "0123456789abcdef")) == 40
