"""What the host makes of a forged reply: names, shapes and sizes are checked again, and no kernel gets an
array that does not fit."""

import random

import numpy as np
import pytest
import torch
from designs_attacks import mutated, renamed
from unit.designs_engine.engine_support import BASELINE, SIMPLE, small_batch, traced

from evolake.designs.compiler import kernel_call
from evolake.designs.compiler.kernel_call import CHECKS, Batch, KernelTrap
from evolake.designs.compiler.kernel_guard import guarded
from evolake.designs.engines.fused import FusedStepper
from evolake.designs.engines.mixed import MixedStepper
from evolake.designs.evolution.population import design_id_of
from evolake.designs.model.contract import NAME, Blocked, TracedDesign
from evolake.designs.tracing.driver import trace
from evolake.designs.tracing.trace import accept

MIXED = SIMPLE.replace("c = (1", "c = torch.cumsum(vars['xl'], 0) * 1e-3 + (1")


def reply_of(source: str) -> dict:
    before = torch.get_default_dtype()
    try:
        return trace(source, {"hyper": {}, "dtype": "float32", "size": None})
    finally:
        torch.set_default_dtype(before)


@pytest.mark.parametrize(
    "name",
    ["out0.0", "~out0.0", "in0.1", "v v", "v\n", "", "\u00e9", "\uff56", "x" * 65, "1v", 7, None, ["v"]],
)
@pytest.mark.parametrize("kind", ["variables", "hypers"])
def test_the_host_checks_every_name_again(kind, name):
    reply = reply_of(SIMPLE)
    if kind == "variables" and isinstance(name, str):
        renamed(reply, name, random.Random(1))
    else:
        reply[kind][0][0] = name
    result = accept(reply, {}, "float32", None)
    assert isinstance(result, Blocked)
    assert result.gate == "contract"


def test_no_name_of_ours_can_be_a_variable_and_no_two_arrays_share_one():
    mixed = MixedStepper(traced(MIXED), small_batch(), 1, "float32")
    own = [name for name in mixed._batch.arrays if name not in ("v", "xl", "xs")]
    assert len(own) >= 2
    assert not any(NAME.fullmatch(name) for name in own)
    with pytest.raises(ValueError, match="two arrays"):
        mixed._batch.make("v", "M", 1)


def forged(design: TracedDesign) -> dict:
    data = design.to_json()
    data["variables"][1][0] = "~out0.0"
    return data


def test_a_stored_design_with_a_forged_name_is_not_read():
    with pytest.raises(ValueError, match="name"):
        TracedDesign.from_json(forged(traced(SIMPLE)))


def shrunk(array: np.ndarray) -> np.ndarray:
    return np.zeros((array.shape[0], array.shape[1], 1), dtype=array.dtype)


CHANGES = {
    "another array": lambda array: array.copy(),
    "a smaller one": shrunk,
    "none": lambda array: None,
    "another type": lambda array: array.astype(np.float64),
    "a strided one": lambda array: np.repeat(array, 2, axis=2)[..., ::2],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("engine", [FusedStepper, MixedStepper])
def test_every_kernel_call_compares_its_arrays_with_the_plan(engine, change):
    stepper = engine(traced(SIMPLE if engine is FusedStepper else MIXED), small_batch(), 1, "float32")
    stepper.run(1)
    arrays = stepper._batch.arrays
    arrays["xl"] = CHANGES[change](arrays["xl"])
    if arrays["xl"] is None:
        del arrays["xl"]
    with pytest.raises(KernelTrap, match="'xl'"):
        stepper.run(1)


def test_the_checked_build_reports_a_write_out_of_bounds_and_does_not_make_it(monkeypatch):
    """The comparison is taken out here, so that the kernel really gets the small array: it must not write
    behind it."""
    monkeypatch.setenv(CHECKS, "1")
    stepper = FusedStepper(traced(SIMPLE), small_batch(), 1, "float32")
    call = stepper._call
    stepper.run(2)
    room = np.full(4 * 1024, 7, dtype=np.float32)
    small = room[1024:1040].reshape(1, 1, 16)
    place = [name for name, _, _ in call._wanted].index("xl")
    call._pointers[place] = small.ctypes.data
    call._wanted = [(name, small if name == "xl" else array, shape) for name, array, shape in call._wanted]
    monkeypatch.setattr(kernel_call.KernelCall, "_compare", lambda self: None)
    with pytest.raises(KernelTrap, match="reached outside"):
        stepper.run(1)
    assert (room[:1024] == 7).all() and (room[1040:] == 7).all()


def test_an_access_that_the_guard_does_not_understand_is_an_error():
    with pytest.raises(ValueError, match="not understood"):
        guarded("  %x = load volatile float, ptr addrspace(1) %p")


def test_a_clause_with_a_variable_that_is_none_makes_no_batch():
    instances = small_batch()
    instances.idx[0, 0, 0] = instances.n
    with pytest.raises(ValueError, match="does not have"):
        Batch(instances, "float32")


@pytest.mark.parametrize(
    ("value", "words"),
    [("fast", "lr"), (float("inf"), "choice"), (10**400, "choice"), (float("nan"), "choice"), (True, "lr")],
    ids=["text", "infinite", "vast", "nan", "truth"],
)
def test_a_learning_rate_that_is_no_finite_number_blocks(value, words):
    reply = reply_of(SIMPLE)
    reply["hypers"] = [["lr", "categorical", value, None, None, [value]]]
    result = accept(reply, {}, "float32", None)
    assert isinstance(result, Blocked)
    assert words in result.reason


@pytest.mark.parametrize("key", ["device", "layout", "out", "generator", "pin_memory", "requires_grad"])
def test_a_graph_that_says_where_its_numbers_lie_is_refused(key):
    reply = reply_of(SIMPLE)
    node = next(
        node
        for node in reply["graph"]["gradient"]["nodes"]
        if node[0].startswith("new_zeros") or node[0].startswith("zeros_like")
    )
    node[2][key] = "cpu"
    result = accept(reply, {}, "float32", None)
    assert isinstance(result, Blocked)
    assert key in result.reason


def test_two_hundred_mutated_replies_are_blocked_or_are_designs_and_raise_nothing():
    """The short form of tests/attacks/test_designs_replies.py."""
    rng, replies = random.Random(5), [reply_of(SIMPLE), reply_of(BASELINE.read_text()), reply_of(MIXED)]
    kinds = set()
    for _ in range(200):
        result = accept(mutated(rng.choice(replies), rng), {}, "float32", None)
        kinds.add(type(result))
        if isinstance(result, TracedDesign):
            assert TracedDesign.from_json(result.to_json()) == result
            assert len(design_id_of(result)) == 64
    assert kinds == {Blocked, TracedDesign}
