"""The open grammar: typed expressions, canonical form, behaviour, and the operators on them."""

import json

import numpy as np
import pytest
from designs_genomes import changed, open_search
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.designs.genome.open_behaviour import evaluated, fingerprint, stepped
from evolake.designs.genome.open_compose import compose
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
from evolake.designs.genome.open_genetic import OPERATORS, parent_of, propose, scales_of
from evolake.designs.genome.open_genome import (
    BACKBONE,
    MAX_MEMORIES,
    MAX_SIZE,
    MAX_SLOT,
    SLOTS,
    Memory,
    OpenGenome,
    baseline,
    open_genome,
    read_genome,
    with_values,
)
from evolake.designs.genome.open_switch import START, blended, switched
from evolake.designs.genome.variation import Parent, Scale, moved_value, perturbed_values
from evolake.errors import InputError
from evolake.project import BROUGHT as PROJECT_ROOT

BASE = baseline()


def parent(drawn: OpenGenome, name: str = "base") -> Parent:
    return parent_of(name, name, drawn)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_line_of_children_is_canonical_typed_finite_and_never_behaves_the_same(seed):
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
def test_each_operator_can_be_asked_for(operator):
    memory = Memory("m1", "clause", 0.0, 1.0, ("sub", "c", "m1"))
    first = open_genome(dict(BASE.drives) | {"xs": ("mul", "m1", BASE.drive("xs"))}, [memory], BASE.constants)
    child = propose(
        [parent(first), parent(changed(v=("tanh", "pull")), "other")],
        set(),
        np.random.default_rng(3),
        operator=operator,
    )
    assert child is not None and child.operator == operator


def test_its_start_is_the_baseline_with_the_parameters_of_the_paper():
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


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["clause", "literal", "variable", "scalar"]))
def test_drawn_expressions_are_typed_and_their_canonical_form_computes_the_same(seed, kind):
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


def test_designs_are_told_apart_by_what_they_do_and_not_by_how_they_are_written():
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


def test_a_design_that_leaves_the_finite_numbers_is_not_proposed():
    huge = ("mul", 1e300, ("square", ("square", ("square", ("square", "xl")))))
    wild = changed(xl=("sub", huge, ("mul", "c", huge)))
    assert fingerprint(wild) == "" and len(wild.key()) == 64
    made = [propose([parent(wild)], set(), np.random.default_rng(seed)) for seed in range(4)]
    assert all(
        child is None or (isinstance(child.genome, OpenGenome) and fingerprint(child.genome))
        for child in made
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
def test_what_has_no_kind_is_refused_with_its_place(drives, message):
    with pytest.raises(InputError, match=message):
        changed(**drives)
    with pytest.raises(IllTyped):
        kind_of(("add", "v", "c"), LEAVES)


def test_a_memory_that_follows_nothing_and_a_design_that_is_too_large_are_refused():
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


def test_a_genome_is_read_back_only_whole():
    data = json.loads(BASE.to_json())
    for broken in ({**data, "drives": {}}, {**data, "memories": [["m1", "instance", 0, 1, "c"]]}):
        with pytest.raises(InputError):
            read_genome(json.dumps(broken))
    assert set(dict(BASE.drives)) == set(SLOTS)


def test_a_gate_is_a_term_times_a_slow_memory_between_0_and_1():
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


# The operator `switch`: one parent until a clock has run out, then the other.


PUSHED = open_genome(
    dict(BASE.drives)
    | {"force": ("sub", ("mul", "rival", ("mul", "xl", "xs")), ("mul", "u", "m1"))}
    | {"xl": ("mul", "alpha", ("div", "c", "delta"))},
    [Memory("m1", "clause", 0.0, 1.0, ("sub", "c", "m1"))],
    BASE.constants,
)
N, IDX = 5, np.array([[0, 1, 2], [2, 3, 4], [0, 3, 4], [1, 2, 4]])
VARIABLES = 8
TIGHT = np.array([np.random.default_rng(number).choice(VARIABLES, 3, replace=False) for number in range(90)])
"""Clauses of a formula that is hardly satisfiable, whatever the signs."""
SHAPES = {"clause": (len(IDX),), "literal": (len(IDX), 3), "variable": (N,), "scalar": ()}


def at_hand(random: np.random.Generator, **values: float) -> dict[str, np.ndarray]:
    names = dict(LEAVES) | {"m1": "clause"}
    drawn = {name: np.asarray(random.uniform(0.1, 0.9, SHAPES[kind])) for name, kind in names.items()}
    return drawn | {name: np.asarray(value) for name, value in values.items()}


def clock_of(genome: OpenGenome) -> Memory:
    return next(memory for memory in genome.memories if memory.axis == "scalar")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["clause", "literal", "variable"]))
def test_a_blended_drive_is_the_first_before_and_the_second_after(seed, kind):
    random = np.random.default_rng(seed)
    drawing = Drawing(random, dict(LEAVES))
    shared, ours, theirs = (drawing.expression(kind, 2) for _ in range(3))
    early, late = ("sub", ("add", shared, ours), "c"), ("sub", shared, ("mul", theirs, 2.0))
    if kind == "variable":
        early = early[1]
    drive = blended(early, late, "clock")
    values = {held.parameter.name: held.value for held in drawing.fresh}
    for clock, wanted in ((0.0, early), (1.0, late)):
        known = at_hand(np.random.default_rng(seed), clock=clock, **values)
        with np.errstate(all="ignore"):
            before, after = (evaluated(item, known, IDX, N) for item in (wanted, drive))
        if {before.ndim, after.ndim} == {1, 2}:
            before, after = (item[:, None] if item.ndim == 1 else item for item in (before, after))
        np.testing.assert_allclose(*np.broadcast_arrays(after, before), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_clock_counts_steps(seed):
    child = switched(BASE, PUSHED, np.random.default_rng(seed))
    assert child is not None
    genome, title, why, given = child
    assert title == "switch" and 0 < given < genome.size()
    memory, values = clock_of(genome), genome.values()
    steps = float(why.split("some ")[1].split(" steps")[0])
    clock, taken = 0.0, 0
    names = values | {"log_variables": np.log(320), "speed": 1.0}
    while clock < 0.5:
        known = {name: np.asarray(value) for name, value in (names | {memory.name: clock}).items()}
        clock += values["lr"] * float(evaluated(memory.drive, known, IDX, N))
        taken += 1
    assert 0.9 * steps <= taken * (1 + START) <= 1.15 * steps + 5


def test_both_parents_keep_their_values_and_memories_or_share_the_first_one_s():
    other = with_values(PUSHED, {"alpha": 7.0, "lr": 2.0})
    seen = set()
    for seed in range(20):
        child = switched(BASE, other, np.random.default_rng(seed))
        assert child is not None
        genome = child[0]
        paces = {held for held in genome.values().values() if held == 2.0}
        assert genome.values()["lr"] == BASE.values()["lr"] and paces and "pace" in dict(genome.drives)
        axes = sorted(memory.axis for memory in genome.memories)
        assert axes == ["clause"] * 3 + ["scalar"], "that of the other, the clock, xl and xs of the second"
        seen.add(7.0 in genome.values().values())
    assert seen == {True, False}


def begun(genome: OpenGenome, seed: int) -> dict[str, np.ndarray]:
    """State at the start of a run on `TIGHT`."""
    sizes = {"clause": (len(TIGHT),), "variable": (VARIABLES,), "scalar": ()}
    start = {"v": np.random.default_rng(seed).uniform(-1, 1, VARIABLES)}
    start |= {"xl": np.ones(len(TIGHT)), "xs": np.zeros(len(TIGHT))}
    return start | {memory.name: np.zeros(sizes[memory.axis]) for memory in genome.memories}


def of_two(seed: int) -> tuple[OpenGenome, OpenGenome, OpenGenome, np.ndarray]:
    """A child of two designs with steps of their own, who is first, who is second, and signs of `TIGHT`."""
    other = with_values(PUSHED, {"lr": 0.5})
    child = switched(BASE, other, np.random.default_rng(seed))
    assert child is not None
    first, second = (BASE, other) if child[2].startswith("It is itself") else (other, BASE)
    return child[0], first, second, np.random.default_rng(100 + seed).choice([-1, 1], TIGHT.shape)


@pytest.mark.parametrize("seed", range(8))
def test_the_first_runs_as_alone_and_the_memories_of_the_second_stay_as_they_begin(seed):
    genome, first, second, sgn = of_two(seed)
    state, alone = begun(genome, seed), begun(first, seed)
    for _ in range(12):
        state, alone = stepped(genome, state, TIGHT, sgn), stepped(first, alone, TIGHT, sgn)
    for slot in ("v", "xl", "xs"):
        assert state[slot] == pytest.approx(alone[slot], rel=0.05, abs=0.1), (
            "but for what the clock lets through"
        )
    assert np.max(alone["xl"]) > 1.5, "the formula is hard, so weights have grown"
    waiting = [memory.name for memory in genome.memories if memory != clock_of(genome)][len(first.memories) :]
    assert len(waiting) == 2 + len(second.memories)
    assert max(float(np.max(np.abs(state[name]))) for name in waiting) < 0.01


@pytest.mark.parametrize("seed", range(8))
def test_in_its_turn_the_second_starts_with_its_own_xl_and_xs(seed):
    genome, _, second, sgn = of_two(seed)
    state, alone = begun(genome, seed), begun(second, seed)
    state[clock_of(genome).name] = np.ones(())
    state["xl"], state["xs"] = np.full(len(TIGHT), 900.0), np.full(len(TIGHT), 0.7)  # what the first left
    for _ in range(5):
        state, alone = stepped(genome, state, TIGHT, sgn), stepped(second, alone, TIGHT, sgn)
    assert state["v"] == pytest.approx(alone["v"], abs=1e-9)


def test_the_shipped_design_in_turn_is_what_its_genome_says():
    folder = PROJECT_ROOT / "data_lake" / "seeds" / "reference_designs"
    genome = read_genome((folder / "in_turn.genome.json").read_text())
    assert isinstance(genome, OpenGenome) and "m2" in str(dict(genome.drives)["force"])
    assert clock_of(genome).name == "m2"
    written = (folder / "in_turn.py").read_text()
    assert written.split("import torch")[1] == compose(genome).split("import torch")[1]


# How designs without a genome are varied, and how values move.


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


def test_a_design_from_a_file_can_only_be_perturbed_and_keeps_its_text():
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


@given(st.integers(0, 2**32 - 1))
def test_perturbation_moves_at_least_one_value_and_at_most_a_third(seed):
    values = open_search().values()
    moved = perturbed_values(values, scales_of(open_search()), np.random.default_rng(seed))
    changed = [name for name in values if moved[name] != values[name]]
    assert set(moved) == set(values)
    assert len(changed) <= -(-len(values) // 3)


def test_steps_are_on_the_scale_of_the_parameter():
    log, linear = Scale("x", "log_uniform", 1.0, 1e4), Scale("x", "uniform", 0.0, 1.0)
    random = np.random.default_rng(0)
    ratios = [float(moved_value(log, 100.0, 0.1, random)) / 100.0 for _ in range(400)]
    steps = [float(moved_value(linear, 0.5, 0.1, random)) - 0.5 for _ in range(400)]
    assert np.std(np.log(ratios)) == pytest.approx(0.1 * np.log(1e4), rel=0.15)
    assert np.std(steps) == pytest.approx(0.1, rel=0.15)


def test_a_memory_that_follows_only_the_size_is_refused():
    fixed = ("mul", 0.1, ("sub", ("div", "clauses", "variables"), "m1"))
    memory = Memory("m1", "scalar", 0.0, 1.0, fixed)
    with pytest.raises(InputError, match="m1 follows nothing"):
        open_genome(dict(BASE.drives) | {"v": ("mul", "pull", "m1")}, [memory], BASE.constants)
