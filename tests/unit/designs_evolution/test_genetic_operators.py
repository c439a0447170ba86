"""The genetic operators: children, reference weights, no duplicates."""

from __future__ import annotations

import numpy as np
import pytest
from designs_genomes import parent_of_genome
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.designs.genome.grammars import propose
from evolake.designs.genome.values import Scale, moved_value, perturbed_values
from evolake.designs.genome.variation import Parent, design_key, short_title
from evolake.designs.grammars.paper_genome.genetic import OPERATORS, inherited_shares, with_values
from evolake.designs.grammars.paper_genome.genome import (
    BASELINE,
    design_340,
    genome,
    kinds,
    parameters_of,
    scales_of,
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


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_long_line_of_children_has_no_duplicate_and_weights_that_sum_to_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    parents = [
        parent_of_genome("base", "baseline", BASELINE),
        parent_of_genome("d340", "design 340", design_340()),
    ]
    taken = {parent.genome.key() for parent in parents if parent.genome}
    for number in range(25):
        first, second = random.choice(len(parents), 2)
        child = propose([parents[first], parents[second]], taken, random)
        assert child is not None and child.genome is not None
        assert child.key() not in taken
        assert sum(weight for _, weight in child.weights) == pytest.approx(1.0, abs=1e-12)
        assert {design_id for design_id, _ in child.weights} <= {
            parents[first].design_id,
            parents[second].design_id,
        }
        bounds = parameters_of(child.genome)
        assert all(
            bounds[name].low <= value <= bounds[name].high for name, value in child.genome.values().items()
        )
        assert len(child.title) <= 40
        taken.add(child.key())
        parents.append(parent_of_genome(f"c{number}", child.title, child.genome))


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_can_be_asked_for(operator: str) -> None:
    parents = [
        parent_of_genome("d340", "design 340", design_340()),
        parent_of_genome("x", "x", genome({}, {"xl_decay": {}})),
    ]
    child = propose(parents, set(), np.random.default_rng(3), operator=operator)
    assert child is not None and child.operator == operator


def test_the_same_generator_gives_the_same_child() -> None:
    parents = [parent_of_genome("d340", "design 340", design_340())]
    assert propose(parents, set(), np.random.default_rng(5)) == propose(
        parents, set(), np.random.default_rng(5)
    )


def test_the_first_gate_of_a_release_never_stands_alone() -> None:
    for seed in range(20):
        child = propose(
            [parent_of_genome("b", "b", BASELINE)],
            set(),
            np.random.default_rng(seed),
            operator="add_gate",
            focus=["violation"],
        )
        assert child is not None and child.genome is not None
        release = [name for name in child.genome.term_names() if kinds()[name].slot == "release"]
        assert "violation" in release and len(release) >= 3


def test_grafting_a_gate_onto_a_design_without_release_takes_the_whole_release() -> None:
    parents = [parent_of_genome("b", "b", BASELINE), parent_of_genome("d340", "design 340", design_340())]
    child = propose(parents, set(), np.random.default_rng(0), operator="graft")
    assert child is not None and child.genome is not None
    assert child.genome.term_values() == design_340().term_values()
    assert child.genome.values()["kappa"] == design_340().values()["kappa"]
    assert child.genome.values()["lr"] == BASELINE.values()["lr"]
    assert dict(child.weights) == pytest.approx({"b": 1 / 8, "d340": 7 / 8})


def test_a_design_from_a_file_can_only_be_perturbed_and_keeps_its_text() -> None:
    donor = parent_of_genome("d340", "design 340", design_340())
    for seed in range(20):
        child = propose([FILE, donor], set(), np.random.default_rng(seed), operator="graft")
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
        [parent_of_genome("b", "b", BASELINE), FILE], set(), np.random.default_rng(1), operator="graft"
    )
    assert child is not None
    assert child.weights == (("b", 1.0),)


def test_nothing_new_is_none() -> None:
    stuck = Parent("s", "s", "SOURCE", {"mode": "x"}, (Scale("mode", "categorical", choices=("x", "y")),))
    known = {design_key(None, "SOURCE", {"mode": "y"})}
    assert propose([stuck], known, np.random.default_rng(0)) is None


def test_inherited_shares_count_genes_and_split_what_both_have() -> None:
    first = genome({}, {"xl_decay": {}, "edge_drag": {"drag": 0.5}})
    second = genome({"lr": 2.0}, {"edge_drag": {"drag": 0.5}, "soft_mix": {}})
    child = genome({}, {"xl_decay": {}, "edge_drag": {"drag": 0.5}, "soft_mix": {}, "mix_leak": {}})
    shares = dict(inherited_shares(child, [("a", first), ("b", second)]))
    assert shares == pytest.approx({"a": 2.5 / 4, "b": 1.5 / 4})


def test_a_perturbed_term_is_still_inherited() -> None:
    first = genome({}, {"edge_drag": {"drag": 0.5}})
    child = genome({"lr": 1.5}, {"edge_drag": {"drag": 0.6}})
    assert inherited_shares(child, [("a", first)]) == (("a", 1.0),)


@given(st.integers(0, 2**32 - 1))
def test_perturbation_moves_at_least_one_value_and_at_most_a_third(seed: int) -> None:
    values = design_340().values()
    moved = perturbed_values(values, scales_of(design_340()), np.random.default_rng(seed))
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
    result = with_values(design_340(), {"lr": 2.0, "eta": 0.2, "unknown": 5.0})
    assert result.values() == design_340().values() | {"lr": 2.0, "eta": 0.2}


def test_a_title_names_the_parent_and_fits() -> None:
    assert short_title("add xl_gain", "0123456789abcdef") == "add xl_gain on 012345"
    assert len(short_title("perturb " + "parameter, " * 20, "0123456789abcdef")) == 40
