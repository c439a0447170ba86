"""All engines compute the same steps, and the same as the equations."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from unit.designs_engine import equations
from unit.designs_engine.engine_support import (
    BASELINE,
    DESIGN_340,
    SIMPLE,
    VARIABLES,
    after,
    distance,
    small_batch,
    traced,
)

from evolake.designs.engines import engine as engine_module
from evolake.designs.engines.counted import RATES
from evolake.designs.engines.engine import EngineChoice, StopRule, WorkBounds, make_stepper, simulate
from evolake.designs.model.instances import Planted, planted
from evolake.gates import read_reason

SHIPPED = {"baseline": BASELINE, "340": DESIGN_340}


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("engine", ["fused", "torch", "reference"])
def test_five_steps_in_float64_follow_the_equations_to_a_millionth(name, engine):
    design, instances = traced(SHIPPED[name].read_text(), dtype="float64"), small_batch()
    stepper, _ = make_stepper(design, instances, seed=3, engine=engine, dtype="float64")
    start = {key: value.copy() for key, value in stepper.state().items()}
    stepper.run(5)
    expected = {key: np.empty_like(value) for key, value in start.items()}
    for instance in range(instances.batch):
        state = [start[key][instance] for key in ("v", "xl", "xs")]
        for _ in range(5):
            release = equations.release_340 if name == "340" else None
            state = equations.step(
                *state,
                instances.idx[instance],
                instances.sgn[instance].astype(float),
                design.hyper_values,
                release,
            )
        for key, value in zip(("v", "xl", "xs"), state, strict=True):
            expected[key][instance] = value
    assert stepper.name == engine
    assert distance(stepper.state(), expected) < 1e-6


def test_design_340_takes_the_stored_steps():
    """They were computed by a file composed of the paper's terms, with the values of its Table S1."""
    stored = json.loads(Path(__file__).with_name("design_340_steps.json").read_text())
    design = traced(DESIGN_340.read_text(), dtype="float64")
    instances = small_batch(stored["n"], stored["batch"], stored["instance_seed"])
    for steps, expected in stored["states"].items():
        _, state, _ = after(design, "reference", instances, int(steps), seed=stored["start_seed"])
        assert distance({name: np.array(values) for name, values in expected.items()}, state) < 1e-9


@pytest.mark.parametrize("name", SHIPPED)
def test_five_steps_in_float32_agree_between_engines(name):
    design, instances = traced(SHIPPED[name].read_text()), small_batch(40, 6)
    _, plain, plain_solved = after(design, "reference", instances)
    for engine in ("fused", "torch"):
        ran, state, solved = after(design, engine, instances)
        assert ran == engine
        assert distance(plain, state) < 1e-4
        assert np.array_equal(solved, plain_solved)


def test_a_release_that_really_acts_is_the_same_in_all_engines():
    source = DESIGN_340.read_text().replace("torch.ones(shape)", "5000.0 + 4000.0 * torch.rand(shape)")
    source = source.replace("torch.zeros(shape)", "0.1 * torch.rand(shape)")
    design, instances = traced(source, dtype="float64"), small_batch()
    _, plain, _ = after(design, "reference", instances)
    assert distance(plain, after(design, "fused", instances)[1]) < 1e-9
    assert distance(plain, after(design, "torch", instances)[1]) < 1e-9


@pytest.mark.parametrize("engine", ["fused", "torch", "reference"])
def test_of_tied_best_literals_only_the_first_is_held(engine):
    source = BASELINE.read_text().replace("2.0 * torch.rand(shape) - 1.0", "torch.zeros(shape)")
    item = Planted(
        np.array([[[0, 1, 2]]], dtype=np.int32),
        np.ones((1, 1, 3), dtype=np.int8),
        np.ones((1, 3), dtype=np.int8),
        3,
        1,
        0,
    )
    _, state, _ = after(traced(source), engine, item, 1)
    assert state["v"].tolist() == [[1.0, 0.0, 0.0]]


def test_solved_instances_are_those_whose_clauses_all_hold():
    design, instances = traced(BASELINE.read_text()), planted(12, 40, 5)
    for engine in ("fused", "torch", "reference"):
        stepper, _ = make_stepper(design, instances, seed=3, engine=engine)
        for _ in range(12):
            solved = stepper.run(1)[0]
            literals = (
                np.take_along_axis(stepper.state()["v"], instances.idx.reshape(40, -1), axis=1).reshape(
                    instances.idx.shape
                )
                * instances.sgn
            )
            assert np.array_equal(solved, (literals > 0).any(axis=2).all(axis=1))


def test_steps_in_one_call_or_many_give_the_same_bytes():
    design, instances = traced(DESIGN_340.read_text()), small_batch(30, 5)
    together, _ = make_stepper(design, instances, seed=3)
    apart, _ = make_stepper(design, instances, seed=3)
    whole = together.run(9)
    pieces = np.concatenate([apart.run(steps) for steps in (1, 3, 5)])
    assert np.array_equal(whole, pieces)
    assert all(np.array_equal(together.state()[name], apart.state()[name]) for name in ("v", "xl", "xs"))


@pytest.mark.parametrize("threads", [2, 3, 40])
def test_more_threads_change_no_byte_and_their_time_counts(threads):
    design, instances = traced(DESIGN_340.read_text()), small_batch(30, 5)
    alone, _ = make_stepper(design, instances, seed=3)
    shared, _ = make_stepper(design, instances, seed=3, threads=threads)
    assert all(np.array_equal(alone.run(steps), shared.run(steps)) for steps in (1, 8, 64))
    assert all(np.array_equal(alone.state()[name], shared.state()[name]) for name in ("v", "xl", "xs"))
    assert shared.cpu_elsewhere_s > 0 and alone.cpu_elsewhere_s == 0
    first, other = (
        simulate(design, instances, max_steps=200, seed=3, by=EngineChoice(threads=count))
        for count in (1, threads)
    )
    assert (first.median_step, first.steps_run, first.solved_at.tolist()) == (
        other.median_step,
        other.steps_run,
        other.solved_at.tolist(),
    )


def test_an_instance_runs_the_same_alone_and_in_company():
    design, many = traced(BASELINE.read_text()), planted(30, 6, 2)
    alone = Planted(many.idx[:1], many.sgn[:1], many.hidden[:1], many.n, many.m, many.seed)
    _, state, _ = after(design.__class__.from_json(design.to_json()), "fused", many, 4)
    fixed = traced(
        BASELINE.read_text().replace(
            "2.0 * torch.rand(shape) - 1.0", "torch.linspace(-0.5, 0.5, shape[1]).expand(shape)"
        )
    )
    together, single = after(fixed, "fused", many, 20)[1], after(fixed, "fused", alone, 20)[1]
    assert state["v"].shape == (6, 30)
    assert all(np.array_equal(together[name][:1], single[name]) for name in ("v", "xl", "xs"))


def first_times(solved: np.ndarray) -> np.ndarray:
    """(B,) first step after which each instance was solved; one after the last for never."""
    return np.where(solved.any(axis=0), solved.argmax(axis=0) + 1, len(solved) + 1)


@pytest.mark.parametrize("batch", [29, 30])
def test_the_median_step_is_the_median_of_the_steps_at_which_instances_are_first_solved(batch):
    design, instances = traced(BASELINE.read_text()), planted(14, batch, 3)
    stepper, _ = make_stepper(design, instances, seed=7)
    solved = stepper.run(400)
    first = first_times(solved)
    median = math.ceil(np.median(first))
    more_than_half = int(np.sort(first)[batch // 2])
    result = simulate(design, instances, max_steps=400, seed=7)
    assert (result.median_step, result.steps_run, result.reached, result.timed_out) == (
        median,
        more_than_half,
        True,
        False,
    )
    assert result.unsolved_fraction == 1 - (first <= more_than_half).sum() / batch < 0.5
    assert result.solved_at.tolist() == np.where(first <= more_than_half, first, 0).tolist()
    further = simulate(design, instances, max_steps=more_than_half + 20, seed=7, until=StopRule(median=False))
    assert (further.median_step, further.steps_run) == (median, more_than_half + 20)
    assert further.unsolved_fraction == 1 - (first <= more_than_half + 20).sum() / batch


class Blinking:
    """A stepper whose instances are solved at every third step from their own first one on."""

    name = "reference"

    def __init__(self, firsts: list[int]):
        self.firsts, self.steps = np.array(firsts), 0

    def run(self, steps: int) -> np.ndarray:
        at = np.arange(self.steps + 1, self.steps + steps + 1)[:, None]
        self.steps += steps
        return (at >= self.firsts) & ((at - self.firsts) % 3 == 0)

    def state(self) -> dict[str, np.ndarray]:
        return {"v": np.zeros((len(self.firsts), 1))}


def test_a_solution_that_is_left_again_counts_and_the_papers_rule_stands_beside_it(monkeypatch):
    design, instances = traced(SIMPLE), planted(20, 6, 3)
    monkeypatch.setattr(
        engine_module, "make_stepper", lambda *args, **kwargs: (Blinking([1, 2, 3, 5, 9, 90]), None)
    )
    plain = simulate(design, instances, max_steps=400, seed=7)
    assert (plain.median_step, plain.steps_run, plain.together_step) == (4, 5, None), (
        "the middle of 3 and 5; at 5 only those from 2 and 5 on blink"
    )
    assert plain.left_again == 2, "those from 1 and 3 on"
    monkeypatch.setattr(
        engine_module, "make_stepper", lambda *args, **kwargs: (Blinking([1, 2, 3, 5, 8, 11]), None)
    )
    beside = simulate(design, instances, max_steps=400, seed=7, until=StopRule(together=True))
    assert (beside.median_step, beside.together_step, beside.steps_run) == (4, 11, 11), (
        "2, 5, 8 and 11 blink together"
    )
    monkeypatch.setattr(
        engine_module, "make_stepper", lambda *args, **kwargs: (Blinking([1, 2, 3, 4, 8, 9]), None)
    )
    never = simulate(design, instances, max_steps=400, seed=7, until=StopRule(together=True))
    assert (never.median_step, never.together_step, never.steps_run) == (
        4,
        None,
        engine_module.TOGETHER * 4,
    ), "two blink at a time, for ever"


@pytest.mark.parametrize(("batch", "ranks"), [(1, (1, 1)), (6, (1, 6)), (20, (6, 15)), (100, (40, 61))])
def test_the_interval_of_a_median_is_of_order_statistics(batch, ranks):
    """Textbook ranks: of 20 numbers the 6th and the 15th, of 100 the 40th and the 61st."""
    assert engine_module.order_ranks(batch) == ranks


def test_a_run_that_does_not_reach_the_median_extrapolates_it_from_what_is_solved():
    design, instances = traced(BASELINE.read_text()), planted(60, 20, 3)
    result = simulate(design, instances, max_steps=9, seed=7)
    solved = round((1 - result.unsolved_fraction) * 20)
    assert (result.median_step, result.steps_run, result.reached, result.timed_out) == (
        int(9 * 10.5 / (solved + 0.5)),
        9,
        False,
        False,
    )


def test_seconds_that_a_run_may_take_are_counted_in_steps_and_work():
    design, instances = traced(BASELINE.read_text()), planted(200, 20, 3)
    result = simulate(
        design, instances, max_steps=10**6, seed=7, bounds=WorkBounds(core_s=40 * 20 * 200 / RATES["fused"])
    )
    assert (result.limit, result.steps_run, result.timed_out, result.work_per_step) == (
        40,
        40,
        False,
        pytest.approx(1.0),
    )
    assert simulate(design, instances, max_steps=10**6, seed=7, bounds=WorkBounds(25)).steps_run == 25
    assert simulate(design, instances, max_steps=10, seed=7, bounds=WorkBounds(25, 1.0)).steps_run == 10


@pytest.mark.parametrize("engine", ["fused", "torch", "reference"])
def test_a_state_that_is_no_number_is_diverged_and_unsolved(engine):
    source = SIMPLE.replace('{"v": -dv,', '{"v": -dv / (dv - dv),')
    result = simulate(traced(source), planted(10, 6, 3), max_steps=30, seed=1, by=EngineChoice(engine))
    assert (result.unsolved_fraction, result.diverged, result.failure) == (1.0, 6, None)


@pytest.mark.parametrize("engine", ["fused", "torch", "reference"])
def test_claiming_a_solution_in_extra_variables_solves_nothing(engine):
    claim = (
        '"solved": dict(init=lambda s: torch.ones(s), shape=("B", "M"), bounds=(0.0, 1.0)),\n    "xs": dict'
    )
    source = SIMPLE.replace('"xs": dict', claim).replace(
        '{"v": -dv,', '{"solved": -vars["solved"], "v": 0 * dv,'
    )
    result = simulate(traced(source), planted(40, 6, 3), max_steps=10, seed=1, by=EngineChoice(engine))
    assert result.unsolved_fraction == 1.0


def test_extra_variables_of_other_shapes_run_in_all_engines():
    source = (
        VARIABLES.replace(
            '"xs": dict',
            """"drift": dict(init=lambda s: torch.zeros(s), shape=("B", "N"), bounds=(None, None)),
    "share": dict(init=lambda s: torch.full(s, 1 / 3), shape=("B", "M", 3), bounds=(0.0, float("inf"))),
    "wide": dict(init=lambda s: torch.rand(s), shape=("B", 2, "N"), bounds=(-2.0, 2.0)),
    "xs": dict""",
        )
        + """
def _grad_single(vars, idx, sgn, hp):
    v, share, wide = vars["v"], vars["share"], vars["wide"]
    literals = v[idx] * sgn
    push = (1 - literals) * share
    dv = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), (push * sgn).reshape(-1)) + wide[0] * wide[1]
    return {"v": -dv - vars["drift"], "drift": vars["drift"] - dv, "share": share - torch.softmax(literals, -1), "xl": vars["xs"] - 1,
            "xs": -push.sum(1), "wide": wide - wide.flip(0) * v}
"""  # noqa: E501
    )
    design, instances = traced(source, dtype="float64"), small_batch()
    _, plain, _ = after(design, "reference", instances)
    for engine in ("fused", "torch"):
        ran, state, _ = after(design, engine, instances)
        assert ran == engine
        assert state["share"].shape == (4, instances.m, 3)
        assert state["wide"].shape == (4, 2, 20)
        assert distance(plain, state) < 1e-12


@pytest.mark.parametrize("engine", ["fused", "torch", "reference"])
def test_a_step_reads_only_what_was_there_before_it(engine):
    source = (
        VARIABLES.replace("default=0.1", "default=1.0").replace("bounds=(1.0, 1e6)", "bounds=(None, None)")
        + """
def _grad_single(vars, idx, sgn, hp):
    v = vars["v"]
    return {"v": v, "xl": vars["xs"], "xs": vars["xl"]}
"""
    )
    design, instances = traced(source, dtype="float64"), small_batch()
    stepper, _ = make_stepper(design, instances, seed=3, engine=engine, dtype="float64")
    before = {name: value.copy() for name, value in stepper.state().items()}
    _, state, _ = after(design, engine, instances, 1)
    assert np.array_equal(state["xl"], before["xl"] - before["xs"])
    assert np.array_equal(state["xs"], np.clip(before["xs"] - before["xl"], 0, 1))


def test_what_an_engine_of_ours_raises_is_a_failure_that_is_told_from_a_designs_own(monkeypatch):
    monkeypatch.setattr(engine_module, "make_stepper", lambda *arguments, **options: [][0])
    result = read_reason(simulate(traced(SIMPLE), planted(10, 6, 3), max_steps=9, seed=7).failure)
    assert result is not None and result.error == "IndexError" and result.place.startswith("engine.py:")


def test_designs_that_differ_in_parameters_share_one_kernel_and_not_one_result():
    from evolake.designs.compiler import kernel_build

    source, instances = BASELINE.read_text(), small_batch()
    _, item, _ = after(traced(source), "fused", instances)
    kernels = set(kernel_build._KERNELS)
    _, other, _ = after(
        traced(source, hyper={"alpha": 7.25, "beta": 31.5, "gamma": 0.31}), "fused", instances
    )
    assert set(kernel_build._KERNELS) == kernels
    assert distance(item, other) > 1e-3


def test_batches_of_any_size_agree_on_the_median_step():
    design = traced(BASELINE.read_text())
    results = [
        simulate(design, planted(60, batch, 5), max_steps=5000, seed=7, until=StopRule(interval=True))
        for batch in (20, 100, 400)
    ]
    for one in results:
        for other in results:
            assert one.interval[0] <= (other.interval[1] or 5000)
    smallest, largest = results[0], results[-1]
    assert smallest.interval[0] <= largest.median_step <= (smallest.interval[1] or 5000)
