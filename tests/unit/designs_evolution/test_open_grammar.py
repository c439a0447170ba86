"""The open grammar: typed expressions, canonical form, behaviour, and the operators on them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from designs_genomes import changed
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.designs.genome.open_behaviour import evaluated, fingerprint
from evolake.designs.genome.open_draw import Drawing
from evolake.designs.genome.open_expression import (
    LEAVES,
    IllTyped,
    fits,
    heads,
    kind_of,
    leaf_names,
    simplified,
    size,
)
from evolake.designs.genome.open_genetic import OF_TWO, OPERATORS, parent_of, propose
from evolake.designs.genome.open_genome import (
    MAX_MEMORIES,
    MAX_SIZE,
    MAX_SLOT,
    SLOTS,
    Memory,
    OpenGenome,
    baseline,
    open_genome,
    read_genome,
    simpler,
    with_values,
)
from evolake.designs.genome.parameters import BACKBONE
from evolake.designs.genome.variation import Parent
from evolake.designs.roles.planner import ODDS
from evolake.errors import InputError

BASE = baseline()


def parent(drawn: OpenGenome, name: str = "base") -> Parent:
    return parent_of(name, name, drawn)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_line_of_children_is_canonical_typed_finite_and_never_behaves_the_same(seed: int) -> None:
    random = np.random.default_rng(seed)
    parents, taken = [parent(BASE)], {BASE.key()}
    for number in range(15):
        first, second = random.choice(len(parents), 2)
        child = propose([parents[first], parents[second]], taken, random)
        assert child is not None and isinstance(child.genome, OpenGenome)
        assert read_genome(child.genome.to_json()) == child.genome
        assert child.key() not in taken and fingerprint(child.genome)
        assert sum(weight for _, weight in child.weights) == pytest.approx(1.0, abs=1e-12)
        assert {name for name, _ in child.weights} <= {parents[first].design_id, parents[second].design_id}
        assert (
            child.genome.size() <= MAX_SIZE
            and len(child.genome.memories) <= MAX_MEMORIES
            and len(child.title) <= 40
        )
        assert all(size(drive) <= MAX_SLOT for drive in child.genome.all_drives().values())
        bounds = child.genome.parameters()
        assert all(
            bounds[name].low <= value <= bounds[name].high for name, value in child.genome.values().items()
        )
        taken.add(child.key())
        parents.append(parent(child.genome, f"c{number}"))


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_can_be_asked_for(operator: str) -> None:
    memory = Memory("m1", "clause", 0.0, 1.0, ("sub", "c", "m1"))
    first = open_genome(dict(BASE.drives) | {"xs": ("mul", "m1", BASE.drive("xs"))}, [memory], BASE.constants)
    child = propose(
        [parent(first), parent(changed(v=("tanh", "pull")), "other")],
        set(),
        np.random.default_rng(3),
        operator=operator,
    )
    assert child is not None and child.operator == operator


def test_the_same_generator_gives_the_same_child() -> None:
    made = [propose([parent(BASE)], set(), np.random.default_rng(5)) for _ in range(2)]
    assert made[0] == made[1]


def test_its_start_is_the_baseline_with_the_parameters_of_the_paper() -> None:
    assert BASE.term_names() == ()
    assert BASE.values() == {
        "alpha": 5.0,
        "beta": 20.0,
        "gamma": 0.25,
        "delta": 0.05,
        "epsilon": 1e-3,
        "zeta": 1e-3,
        "lr": 1.0,
    }
    assert set(BASE.values()) == {parameter.name for parameter in BACKBONE}


def test_every_phase_has_odds_for_every_operator() -> None:
    assert set(OF_TWO) < set(OPERATORS)
    assert all(len(odds) == len(OPERATORS) and sum(odds) == pytest.approx(1) for odds in ODDS.values())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["clause", "literal", "variable", "scalar"]))
def test_drawn_expressions_are_typed_and_their_canonical_form_computes_the_same(seed: int, kind) -> None:
    random = np.random.default_rng(seed)
    names = dict(LEAVES) | {"m1": "clause"}
    drawing = Drawing(random, names)
    drawn = drawing.expression(kind, 4)
    values = {held.parameter.name: held.value for held in drawing.fresh}
    known = names | dict.fromkeys(values, "scalar")
    assert fits(kind_of(drawn, known), kind) or kind == "scalar"
    shorter = simplified(drawn)
    assert simplified(shorter) == shorter
    assert size(shorter) <= size(drawn)
    n, idx = 5, np.array([[0, 1, 2], [2, 3, 4], [0, 3, 4], [1, 2, 4]])
    shapes = {"clause": (len(idx),), "literal": (len(idx), 3), "variable": (n,), "scalar": ()}
    at_hand = {name: np.asarray(random.uniform(0.1, 0.9, shapes[held])) for name, held in names.items()}
    at_hand |= {name: np.asarray(value) for name, value in values.items()}
    with np.errstate(all="ignore"):
        before, after = (evaluated(result, at_hand, idx, n) for result in (drawn, shorter))
    if {before.ndim, after.ndim} == {1, 2}:  # of a clause, for each of its literals
        before, after = (result[:, None] if result.ndim == 1 else result for result in (before, after))
    np.testing.assert_allclose(*np.broadcast_arrays(after, before), rtol=1e-6, atol=1e-9)


def test_designs_are_told_apart_by_what_they_do_and_not_by_how_they_are_written() -> None:
    twin = changed(xl=("neg", ("mul", ("sub", "delta", "c"), "alpha")))
    longer = changed(v=("mul", ("min", 1.0, 1.0), "pull"))
    hidden = changed(
        v=("add", "pull", ("mul", 0.0, "drift")),
        xl=("mul", "alpha", ("sub", ("max", "c", ("mul", "c", "c")), "delta")),
    )
    assert twin.key() == longer.key() == hidden.key() == BASE.key()
    others = [
        with_values(BASE, {"lr": 1.01}),
        with_values(BASE, {"epsilon": 0.0011}),
        changed(xl=("mul", "alpha", ("sub", "c", "gamma"))),
        changed(v=("sub", "pull", ("mul", 0.01, "v"))),
    ]
    assert len({BASE.key(), *(other.key() for other in others)}) == 1 + len(others)


def test_a_design_that_leaves_the_finite_numbers_is_not_proposed() -> None:
    huge = ("mul", 1e300, ("square", ("square", ("square", ("square", "xl")))))
    wild = changed(xl=("sub", huge, ("mul", "c", huge)))
    assert fingerprint(wild) == "" and len(wild.key()) == 64
    made = [propose([parent(wild)], set(), np.random.default_rng(seed)) for seed in range(4)]
    assert all(
        child is None or (isinstance(child.genome, OpenGenome) and fingerprint(child.genome))
        for child in made
    )


def test_what_nothing_reads_goes_and_names_are_numbered_as_they_appear() -> None:
    made = open_genome(
        dict(BASE.drives) | {"xl": ("mul", "fresh7", ("sub", "c", "fresh2"))},
        [Memory("unread", "clause", 0.0, 1.0, "c")],
        [*BASE.constants, *(held for held in open_genome_constants("fresh7", "fresh2", "fresh9"))],
    )
    assert made.memories == ()
    assert made.drive("xl") == ("mul", "k1", ("sub", "c", "k2"))
    assert set(made.values()) == {"beta", "gamma", "epsilon", "zeta", "lr", "k1", "k2"}


def open_genome_constants(*names: str):
    drawing = Drawing(np.random.default_rng(0), {})
    for place, name in enumerate(names):
        drawing.constant(1.0 + place)
        held = drawing.fresh[-1]
        yield type(held)(
            type(held.parameter)(name, "log_uniform", 0.0, held.parameter.low, held.parameter.high),
            held.value,
        )


@pytest.mark.parametrize(
    ("drives", "message"),
    [
        ({"xs": "v"}, "the drive of xs is of a variable"),
        ({"v": ("mul", "pull", "c")}, "do not fit together"),
        ({"xs": "pull"}, "no name 'pull'"),
        ({"xs": ("wave", "c")}, "is no expression"),
        ({"xs": ("add", "c")}, "is no expression"),
        ({"xs": ("lowest", "v")}, "lowest is of a literal"),
        ({"xs": ("power", "c", "xs")}, "an exponent is a scalar"),
        ({"xs": True}, "a truth value is no number"),
        ({"force": "nobody"}, "no name 'nobody'"),
    ],
)
def test_what_has_no_kind_is_refused_with_its_place(drives: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        changed(**drives)
    with pytest.raises(IllTyped):
        kind_of(("add", "v", "c"), LEAVES)


def test_a_memory_that_follows_nothing_and_a_design_that_is_too_large_are_refused() -> None:
    with pytest.raises(InputError, match="the memory m1 follows nothing"):
        open_genome(
            dict(BASE.drives) | {"xl": "fresh_m"},
            [Memory("fresh_m", "clause", 0.0, 1.0, ("mul", 2.0, "fresh_m"))],
            BASE.constants,
        )
    wide = "c"
    for _ in range(MAX_SLOT):
        wide = ("tanh", wide)
    with pytest.raises(InputError, match="too large"):
        changed(xl=wide)


def test_a_simpler_genome_loses_its_last_memory_then_its_drives() -> None:
    memory = Memory("m1", "clause", 0.0, 1.0, ("sub", "c", "m1"))
    made = open_genome(
        dict(BASE.drives) | {"xs": ("sub", BASE.drive("xs"), "m1"), "v": ("tanh", "pull")},
        [memory],
        BASE.constants,
    )
    left, gone = simpler(made) or (made, "")
    assert gone == "the memory m1" and left.drive("xs") == BASE.drive("xs") and left.memories == ()
    last, gone = simpler(left) or (left, "")
    assert gone == "the drive of v" and last == BASE and simpler(last) is None


def test_a_genome_is_read_back_only_whole() -> None:
    data = json.loads(BASE.to_json())
    for broken in ({**data, "drives": {}}, {**data, "memories": [["m1", "instance", 0, 1, "c"]]}):
        with pytest.raises(InputError):
            read_genome(json.dumps(broken))
    assert set(dict(BASE.drives)) == set(SLOTS)


def test_a_gate_is_a_term_times_a_slow_memory_between_0_and_1() -> None:
    children = [
        propose([parent(BASE)], set(), np.random.default_rng(seed), operator="gate") for seed in range(40)
    ]
    gated = [
        child.genome
        for child in children
        if child is not None and child.operator == "gate" and isinstance(child.genome, OpenGenome)
    ]
    assert len(gated) >= 20
    for drawn in gated:
        memory = drawn.memories[-1]
        assert (memory.low, memory.high) == (0.0, 1.0) and any(
            memory.name in leaf_names(drive) for _, drive in drawn.drives
        )
        # it relaxes towards a sigmoid, so it stays between 0 and 1 by itself
        assert (
            memory.drive[0] == "mul"
            and ("sigmoid" in heads(memory.drive))
            and memory.name in leaf_names(memory.drive)
        )
    watched = {name for drawn in gated for name in leaf_names(drawn.memories[-1].drive)}
    assert {"true3", "speed", "log_variables"} <= watched and len(
        {drawn.memories[-1].axis for drawn in gated}
    ) == 3


def test_a_memory_that_follows_only_the_size_is_refused() -> None:
    fixed = ("mul", 0.1, ("sub", ("div", "clauses", "variables"), "m1"))
    memory = Memory("m1", "scalar", 0.0, 1.0, fixed)
    with pytest.raises(InputError, match="m1 follows nothing"):
        open_genome(dict(BASE.drives) | {"v": ("mul", "pull", "m1")}, [memory], BASE.constants)
