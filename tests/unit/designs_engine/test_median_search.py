"""The median is the same whichever instances are computed, and what the median does not depend on is left
out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.designs_engine.engine_support import BASELINE, traced

from evolake.designs.engines.engine import StopRule, simulate
from evolake.designs.engines.median_search import MedianSearch
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import planted


@pytest.fixture(scope="module")
def baseline() -> TracedDesign:
    return traced(BASELINE.read_text())


def searched(times: list[int], limit: int, *, prove_missed: bool) -> MedianSearch:
    """A search over instances that are solved at these steps, 0 for never."""
    at = np.array([time or 10**9 for time in times])
    search = MedianSearch(len(times), limit, prove_missed=prove_missed)
    while (turn := search.next()) is not None:
        steps, chosen = turn
        assert len({int(search.taken[place]) for place in chosen}) == 1, "they go on side by side"
        after = int(search.taken[chosen[0]]) + np.arange(1, steps + 1)
        search.take(chosen, after[:, None] == at[None, :])
    return search


@given(
    times=st.lists(st.one_of(st.just(0), st.integers(1, 400)), min_size=1, max_size=30),
    limit=st.integers(1, 300),
    prove_missed=st.booleans(),
)
def test_a_search_decides_as_a_run_of_the_whole_batch(times, limit, prove_missed):
    search = searched(times, limit, prove_missed=prove_missed)
    solved = sorted(time for time in times if 0 < time <= limit)
    half = len(times) // 2 + 1
    reached = len(solved) >= half
    end = solved[half - 1] if reached else limit
    assert search.steps == end
    if reached or not prove_missed:
        assert search.times().tolist() == [time if 0 < time <= end else 0 for time in times]
    else:
        assert search.expected_solved < half and sum(search.taken >= limit) >= len(times) - half + 1
    assert (search.taken <= limit).all()


def test_a_hopeless_batch_is_computed_by_half_and_a_solved_instance_no_further():
    assert searched([0] * 40, 6_400, prove_missed=True).computed < 0.56 * 40 * 6_400
    assert searched([0] * 40, 6_400, prove_missed=False).computed == 40 * 6_400
    even = [100 * place for place in range(1, 41)]
    search = searched(even, 6_400, prove_missed=True)
    assert search.steps == 2_100 and search.computed < 0.78 * 40 * 2_100


@pytest.mark.parametrize("computed", ["unsolved", "deciding"])
@pytest.mark.parametrize(("n", "batch", "most"), [(20, 9, 400), (40, 12, 2_000), (60, 10, 90)])
def test_an_engine_that_leaves_out_instances_gives_the_same_medians(baseline, computed, n, batch, most):
    instances = planted(n, batch, 3)
    whole, part = (
        simulate(baseline, instances, max_steps=most, seed=4, until=StopRule(computed=which))
        for which in ("all", computed)
    )
    same = ("reached", "steps_run", "limit", "engine", "failure")
    assert {name: getattr(part, name) for name in same} == {name: getattr(whole, name) for name in same}
    assert (part.unsolved_fraction < 0.5) == (whole.unsolved_fraction < 0.5) and part.left_again is None
    if whole.reached or computed == "unsolved":
        assert (part.median_step, part.unsolved_fraction) == (whole.median_step, whole.unsolved_fraction)
        assert part.solved_at.tolist() == whole.solved_at.tolist()


def test_the_kernel_computes_chosen_instances_alone_and_refuses_others(baseline, monkeypatch):
    from evolake.designs.engines.fused import FusedStepper

    instances = planted(20, 6, 1)
    whole, parts, threaded = (
        FusedStepper(baseline, instances, 2, "float32", threads) for threads in (1, 1, 3)
    )
    solved = whole.run(40)
    odd, even = np.array([1, 3, 5]), np.array([4, 0, 2])
    first, second = parts.run_chosen(40, odd), parts.run_chosen(40, even)
    assert (first | second == solved).all() and not first[:, even].any()
    assert (threaded.run_chosen(40, np.arange(6)) == solved).all()
    for one, other in zip(whole.state().values(), parts.state().values(), strict=True):
        assert one.tobytes() == other.tobytes()
    for wrong in ([6], [-1], [1, 1]):
        with pytest.raises(ValueError, match="different instances below 6"):
            parts.run_chosen(1, np.array(wrong))
    assert not parts.run_chosen(3, np.array([], dtype=np.int64)).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_kernel_gives_the_same_bytes_with_gathers_and_lane_by_lane(baseline, monkeypatch, dtype):
    from evolake.designs.compiler import kernel_call, kernel_emit
    from evolake.designs.compiler.kernel_emit import emit
    from evolake.designs.engines.fused import FusedStepper, planned

    plan = planned(baseline, dtype)
    assert "masked.gather.v" in emit(plan, dtype).partition("define void")[2]
    assert "masked.gather.v" not in emit(plan, dtype, lane_by_lane=True).partition("define void")[2]
    with monkeypatch.context() as patched:
        sizes: list[int] = []
        patched.setattr(
            kernel_emit, "instructions", lambda lines, dtype: sizes.append(len(lines)) or len(lines)
        )
        gathers = emit(plan, dtype)
        patched.setattr(kernel_emit, "MOST_INSTRUCTIONS", sizes[0])
        assert emit(plan, dtype, lane_by_lane=True) == gathers, (
            "which designs are compiled does not depend on the processor"
        )
    states = []
    for slowly in (True, False):
        monkeypatch.setattr(kernel_call, "gathers_slowly", lambda slowly=slowly: slowly)
        stepper = FusedStepper(baseline, planted(37, 3, 1), 2, dtype)
        solved = stepper.run(60)
        states.append([solved.tobytes(), *(array.tobytes() for array in stepper.state().values())])
    assert states[0] == states[1]
