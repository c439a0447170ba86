"""The operator `switch`: one parent until a clock has run out, then the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.designs.genome.open_behaviour import evaluated, stepped
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_draw import Drawing
from evolake.designs.genome.open_expression import LEAVES
from evolake.designs.genome.open_genome import (
    Memory,
    OpenGenome,
    baseline,
    open_genome,
    read_genome,
    simpler,
    with_values,
)
from evolake.designs.genome.open_switch import START, blended, switched
from evolake.errors import InputError
from evolake.project import BROUGHT as PROJECT_ROOT

BASE = baseline()
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
def test_a_blended_drive_is_the_first_before_and_the_second_after(seed: int, kind: Any) -> None:
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
def test_the_clock_counts_steps(seed: int) -> None:
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


def test_both_parents_keep_their_values_and_memories_or_share_the_first_one_s() -> None:
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
def test_the_first_runs_as_alone_and_the_memories_of_the_second_stay_as_they_begin(seed: int) -> None:
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
def test_in_its_turn_the_second_starts_with_its_own_xl_and_xs(seed: int) -> None:
    genome, _, second, sgn = of_two(seed)
    state, alone = begun(genome, seed), begun(second, seed)
    state[clock_of(genome).name] = np.ones(())
    state["xl"], state["xs"] = np.full(len(TIGHT), 900.0), np.full(len(TIGHT), 0.7)  # what the first left
    for _ in range(5):
        state, alone = stepped(genome, state, TIGHT, sgn), stepped(second, alone, TIGHT, sgn)
    assert state["v"] == pytest.approx(alone["v"], abs=1e-9)


def test_a_pace_is_a_number_that_a_step_is_multiplied_with_and_goes_first() -> None:
    paced = open_genome(dict(BASE.drives) | {"pace": ("add", 1.0, "true0")}, (), BASE.constants)
    assert read_genome(paced.to_json()) == paced and paced.key() != BASE.key()
    assert open_genome(dict(BASE.drives) | {"pace": 1.0}, (), BASE.constants) == BASE
    assert simpler(paced) == (BASE, "the pace")
    with pytest.raises(InputError, match="pace"):
        open_genome(dict(BASE.drives) | {"pace": "v"}, (), BASE.constants)
    child = switched(paced, PUSHED, np.random.default_rng(0))
    assert child is not None and "true0" in str(dict(child[0].drives)["pace"])


def test_the_shipped_design_in_turn_is_what_its_genome_says() -> None:
    folder = PROJECT_ROOT / "data_lake" / "seeds" / "reference_designs"
    genome = read_genome((folder / "in_turn.genome.json").read_text())
    assert isinstance(genome, OpenGenome) and "m2" in str(dict(genome.drives)["force"])
    assert clock_of(genome).name == "m2"
    written = (folder / "in_turn.py").read_text()
    assert written.split("import torch")[1] == compose(genome).split("import torch")[1]
