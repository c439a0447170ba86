"""Genomes and the files they compose to."""

from __future__ import annotations

import ast
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.designs.genome.parameters import BACKBONE
from evolake.designs.grammars.paper_genome.compose import compose
from evolake.designs.grammars.paper_genome.genome import (
    BASELINE,
    KAPPA,
    PaperGenome,
    design_340,
    from_json,
    genome,
    kinds,
    parameters_of,
    without,
)
from evolake.errors import InputError


def closed(names: set[str]) -> set[str]:
    """`names` with everything they require."""
    while more := {needed for name in names for needed in kinds()[name].requires} - names:
        names = names | more
    return names


def drawn_value(draw: st.DrawFn, low: float, high: float, kind: str) -> float:
    if kind == "int":
        return float(draw(st.integers(int(low), int(high))))
    return draw(st.floats(low, high, allow_nan=False))


@st.composite
def genomes(draw: st.DrawFn) -> PaperGenome:
    """Any genome of the grammar."""
    names = closed(set(draw(st.lists(st.sampled_from(sorted(kinds())), max_size=8))))
    terms = {
        name: {
            item.name: drawn_value(draw, item.low, item.high, item.type) for item in kinds()[name].parameters
        }
        for name in names
    }
    backbone = {item.name: drawn_value(draw, item.low, item.high, item.type) for item in (*BACKBONE, KAPPA)}
    return genome(backbone, terms)


def loaded(source: str) -> dict:
    """Runs a composed file. It is our own text, not a candidate's: composed from names and numbers of the
    grammar."""
    names: dict = {}
    exec(compile(source, "composed", "exec"), names)
    return names


@settings(max_examples=60, deadline=None)
@given(genomes())
def test_any_genome_composes_to_a_file_whose_defaults_are_its_values(drawn: PaperGenome) -> None:
    source = compose(drawn, 'a "title" with \\ and\nlines', "why")
    ast.parse(source)
    names = loaded(source)
    assert {name: entry["default"] for name, entry in names["HYPER_SPACE"].items()} == drawn.values()
    assert all(entry["low"] <= entry["default"] <= entry["high"] for entry in names["HYPER_SPACE"].values())
    extra = {kinds()[name].variable.name for name in drawn.term_names() if kinds()[name].variable}
    assert set(names["VARIABLES_SPEC"]) == {"v", "xl", "xs"} | extra


@settings(max_examples=40, deadline=None)
@given(genomes(), st.integers(0, 2**32 - 1))
def test_the_gradient_of_any_genome_is_finite_and_has_the_shapes_of_its_variables(
    drawn: PaperGenome, seed: int
) -> None:
    import torch

    names, random = loaded(compose(drawn)), np.random.default_rng(seed)
    n, m = 12, 51
    state = {}
    for name, spec in names["VARIABLES_SPEC"].items():
        low, high = spec["bounds"]
        state[name] = torch.tensor(
            random.uniform(low, min(high, 1e4), size=n if spec["shape"][1] == "N" else m)
        )
    idx = torch.tensor(np.stack([random.permutation(n)[:3] for _ in range(m)]))
    sgn = torch.tensor(random.choice([-1.0, 1.0], size=(m, 3)))
    hyper = types.SimpleNamespace(**{name: entry["default"] for name, entry in names["HYPER_SPACE"].items()})
    gradient = names["_grad_single"](state, idx, sgn, hyper)
    assert {name: tuple(value.shape) for name, value in gradient.items()} == {
        name: tuple(value.shape) for name, value in state.items()
    }
    assert all(bool(torch.isfinite(value).all()) for value in gradient.values())


@settings(max_examples=60, deadline=None)
@given(genomes())
def test_canonical_json_names_a_genome(drawn: PaperGenome) -> None:
    assert from_json(drawn.to_json()) == drawn
    assert from_json(drawn.to_json()).key() == drawn.key()
    assert compose(drawn) == compose(from_json(drawn.to_json()))


@settings(max_examples=60, deadline=None)
@given(genomes(), st.data())
def test_dropping_a_term_takes_along_what_needs_it_and_nothing_else(
    drawn: PaperGenome, data: st.DataObject
) -> None:
    if not drawn.terms:
        return
    name = data.draw(st.sampled_from(drawn.term_names()))
    left = without(drawn, [name])
    gone = set(drawn.term_names()) - set(left.term_names())
    assert name in gone
    assert all(name == other or name in closed({other}) for other in gone)
    kept = {kind: values for kind, values in drawn.term_values().items() if kind not in gone}
    assert left.term_values() == kept


def test_the_empty_genome_is_the_baseline_with_the_parameters_of_the_paper() -> None:
    assert genome() == BASELINE
    assert BASELINE.values() == {
        "alpha": 5.0,
        "beta": 20.0,
        "gamma": 0.25,
        "delta": 0.05,
        "epsilon": 1e-3,
        "zeta": 1e-3,
        "lr": 1.0,
    }


def test_design_340_has_the_five_gates_and_its_own_values() -> None:
    result = design_340()
    assert result.term_names() == (
        "xl_gate",
        "weak_band",
        "push_up",
        "tail_shift",
        "tail_gate",
        "amp_floor",
        "amp_norm",
    )
    assert result.values()["kappa"] == 1.014919369
    assert result.values()["eta"] == 0.335452911
    assert "release = hp.kappa * gate_xl * band * lift * tail * amplitude" in compose(result)


def test_absent_helpers_are_neutral() -> None:
    source = compose(genome({}, {"tail_gate": {}, "amp_norm": {}}))
    assert "headroom = 0.0" in source
    assert "floor = 0.0" in source


def test_kappa_comes_and_goes_with_the_release() -> None:
    with_gate = genome({"kappa": 2.0}, {"near_gamma": {}})
    assert with_gate.values()["kappa"] == 2.0
    assert "kappa" not in without(with_gate, ["near_gamma"]).values()
    assert "kappa" in parameters_of(with_gate)


@pytest.mark.parametrize(
    ("backbone", "terms", "what"),
    [
        ({}, {"no_such": {}}, "no term kind"),
        ({}, {"tail_shift": {}}, "cannot stand alone"),
        ({"nu": 1.0}, {}, "has no parameter 'nu'"),
        ({}, {"push_up": {"nu": 1.0}}, "has no parameter 'nu'"),
    ],
)
def test_what_is_no_genome_is_refused_with_a_reason(backbone: dict, terms: dict, what: str) -> None:
    with pytest.raises(InputError, match=what):
        genome(backbone, terms)


def test_values_are_clipped_to_their_bounds() -> None:
    result = genome({"lr": 1e9, "gamma": -1.0}, {"damping": {"damp_power": 2.4}})
    assert result.values()["lr"] == 6.0
    assert result.values()["gamma"] == 0.02
    assert result.values()["damp_power"] == 2.0


def test_parameter_names_never_collide() -> None:
    names = [item.name for item in (*BACKBONE, KAPPA)] + [
        item.name for kind in kinds().values() for item in kind.parameters
    ]
    assert len(names) == len(set(names))
