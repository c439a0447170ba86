"""One semantics, torch's: what is no number in sorts and limits, places out of range, and types that torch
refuses, on every engine."""

import random

import pytest
from designs_graphs import apart, disagreement, outcome, random_design, written
from unit.designs_engine.engine_support import FLAT, VARIABLES, small_batch, traced

from evolake.designs.engines.engine import EngineChoice, make_stepper, simulate
from evolake.designs.model.operators import BINARY, UNARY, Setting, call

HOLES = """
    holed = torch.where(literals > 0.5, literals * float("nan"), literals)
    some = torch.where(vars["v"] > 0.9, vars["v"] * float("nan"), vars["v"])
"""


def written_design(lines: str, c: str = "c", dv: str = "0 * v"):
    body = "\n".join(f"    {line}" for line in lines.split("\n"))
    return traced(
        VARIABLES
        + f"""
def _grad_single(vars, idx, sgn, hp):
    v = vars["v"]
    literals = v[idx] * sgn
{HOLES}
{body}
    return {{"v": {dv}, "xl": 0 * vars["xl"] + {c}, "xs": 0 * vars["xs"] + {c}}}
""",
        dtype="float64",
    )


SAME = {
    "bare hardtanh": "c = F.hardtanh(3 * literals).sum(1)",
    "hardtanh with limits": "c = F.hardtanh(3 * literals, -0.5, 2.0).sum(1)",
    "amax": "c = holed.amax(1)",
    "amin": "c = holed.amin(1)",
    "maximum": "c = torch.maximum(holed[:, 0], holed[:, 1])",
    "minimum": "c = torch.minimum(holed[:, 0], holed[:, 1])",
    "clamp by a tensor": "c = literals[:, 0].clamp(min=holed[:, 1], max=holed[:, 2])",
    "clamp of a hole": "c = holed[:, 0].clamp(-0.1, 0.1)",
    "all variables": "c = some.max() + 0 * literals[:, 0]",
    "all variables, least": "c = some.min() + 0 * literals[:, 0]",
    "largest of three": "c = torch.topk(holed, 2, dim=1).values[:, 1]",
    "its place": "c = torch.topk(holed, 3, dim=1).indices[:, 0].to(v.dtype)",
    "smallest of three": "c = torch.topk(holed, 2, dim=1, largest=False).values.sum(1)",
    "sorted": "c = (torch.sort(holed, dim=1).values * torch.tensor([1.0, 2.0, 4.0])).nan_to_num(7.0).sum(1)",
    "place of the largest": "c = holed.max(dim=1).indices.to(v.dtype)",
    "place of the smallest": "c = holed.min(dim=1).indices.to(v.dtype)",
    "argmin": "c = holed.argmin(1).to(v.dtype)",
    "a limit by choice": "c = torch.where(literals[:, 0] < holed[:, 1], holed[:, 1], literals[:, 0])",
    "relu of a hole": "c = torch.relu(holed[:, 0])",
    "softmax with a hole": "c = torch.softmax(holed, 1)[:, 0]",
    "float16 in between": "c = (literals.to(torch.float16) * 3).to(v.dtype).sum(1)",
    "functions of truth values": "c = torch.cosh(literals > 0).sum(1) + ((literals > 0) * 0.3).mean(1) + (idx / 7).sum(1)",  # noqa: E501
    "choices of numbers": "c = torch.where(literals > 0, 0.3, 0.7).sum(1) + torch.where(literals > 0, idx, 0.1).sum(1)",  # noqa: E501
    "whole numbers beyond": "c = ((literals > 0).to(torch.int64) * 2**40 + 1).sum(1).to(v.dtype)",
}


@pytest.mark.parametrize("name", SAME)
def test_engines_compute_what_torch_computes(name):
    design, instances = written_design(SAME[name]), small_batch(17, 3)
    plain = outcome(design, "reference", instances, "float64")
    assert plain[0] == "reference", plain
    for engine in ("auto", "mixed", "torch"):
        ran, state = outcome(design, engine, instances, "float64")
        assert apart(plain[1], state) < 1e-9, (engine, ran)


TENSOR = ("add", "sub", "mul", "div", "pow", "remainder", "fmod", "eq", "xlogy", "copysign")
SCALAR = ("add", "sub", "mul", "div", "remainder", "fmod", "rsub", "lt", "copysign")
OF_TWO = [*(f"{name}.default" for name in BINARY), *(f"{name}.Tensor" for name in TENSOR)]
OF_A_NUMBER = [*(f"{name}.Scalar" for name in SCALAR), "pow.Tensor_Scalar", "clamp.default"]


@pytest.mark.parametrize("kind", ["bool", "int32"])
def test_reals_made_of_other_types_are_of_the_runs_type(kind):
    """As in the trace, whose default type is the run's; here the process has its own."""
    import torch

    some, other = (
        torch.tensor([0, 1, 3, 1]).to(getattr(torch, kind)),
        torch.tensor([1, 1, 2, 0]).to(getattr(torch, kind)),
    )
    calls = [(f"{name}.default", [some]) for name in UNARY] + [(name, [some, other]) for name in OF_TWO]
    calls += [(name, [some, 0.3]) for name in OF_A_NUMBER]
    calls += [
        ("where.ScalarOther", [some > 0, other, 0.3]),
        ("where.Scalar", [some > 0, 0.3, 0.7]),
        ("logsumexp.default", [some, [0]]),
    ]
    made = set()
    for operator, args in calls:
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            wanted = call(operator, args, {}, Setting(torch.float64, 1, 4, 1))
        except (RuntimeError, TypeError, KeyError, AttributeError):
            continue
        finally:
            torch.set_default_dtype(before)
        for real, exact in ((torch.float64, True), (torch.float32, False)):
            result = call(operator, args, {}, Setting(real, 1, 4, 1))
            assert result.dtype == (real if wanted.is_floating_point() else wanted.dtype), operator
            assert not exact or torch.equal(result, wanted) or torch.equal(result.isnan(), wanted.isnan()), (
                operator
            )
        if wanted.is_floating_point():
            made.add(operator)
    assert len(made) >= 20, made


FAILS = {
    "a place beyond a small axis": "c = torch.gather(literals, 1, (literals > 2).to(torch.int64)[:, :1] + OFF)[:, 0]",  # noqa: E501
    "a place below a small axis": "c = torch.gather(literals, 1, (literals > -9).to(torch.int64)[:, :1] - OFF)[:, 0]",  # noqa: E501
    "a scatter beyond a small axis": "c = torch.zeros_like(literals).scatter(1, (literals > 2).to(torch.int64)[:, :1] + OFF, 1.0)[:, 0]",  # noqa: E501
    "a table looked up beyond its end": "c = torch.tensor([1.0, 2.0, 3.0])[(literals[:, 0] > 2).to(torch.int64) + OFF]",  # noqa: E501
}


@pytest.mark.parametrize("engine", ["auto", "fused", "mixed", "torch", "reference"])
@pytest.mark.parametrize("name", FAILS)
def test_a_place_out_of_range_breaks_the_run_on_every_engine(name, engine):
    """The offset is put into the graph afterwards: a trace works with numbers and would raise."""
    design = written_design(FAILS[name].replace("OFF", "1"))
    for node in design.graph["gradient"]["nodes"]:
        if node[0] in ("add.Tensor", "sub.Tensor") and node[1][1] == 1:
            node[1][1] = 9
    result = simulate(design, small_batch(17, 3), max_steps=3, seed=3, by=EngineChoice(engine))
    assert result.failure is not None
    assert (result.unsolved_fraction, result.reached) == (1.0, False)


@pytest.mark.parametrize("engine", ["auto", "fused", "mixed", "torch", "reference"])
def test_types_that_torch_refuses_break_the_run_on_every_engine(engine):
    """scatter_add of another type passes on meta tensors, and is refused on real ones."""
    design = written_design(
        "c = literals[:, 0]", dv="torch.zeros_like(v).scatter_add(0, idx.reshape(-1), literals.reshape(-1))"
    )
    nodes = design.graph["gradient"]["nodes"]
    place = next(at for at, node in enumerate(nodes) if node[0] == "scatter_add.default")
    nodes[nodes[place][1][0]["ref"]][2]["dtype"] = {"dtype": "float32"}
    result = simulate(design, small_batch(17, 3), max_steps=3, seed=3, by=EngineChoice(engine))
    assert result.failure is not None


def test_a_run_that_meets_numbers_that_kernels_do_not_hold_is_begun_again_without_them():
    design = written_design(SAME["whole numbers beyond"])
    result = simulate(design, small_batch(17, 3), max_steps=3, seed=3)
    stepper, _ = make_stepper(design, small_batch(17, 3), seed=3)
    assert stepper.name == "mixed"
    assert (result.engine, result.failure, result.steps_run) == ("torch", None, 3)
    assert result.note == "begun again without kernels: whole numbers beyond those that a kernel holds"


@pytest.mark.filterwarnings("ignore")
def test_engines_agree_on_some_random_graphs():
    """The short form of tests/attacks/test_designs_engines.py."""
    base, instances, ran, seed = traced(FLAT), small_batch(17, 3), 0, 100_000
    while ran < 12:
        seed += 1
        design = random_design(base, random.Random(seed))
        if design is None:
            continue
        ran += 1
        problem, _ = disagreement(design, instances, "float64" if seed % 2 else "float32")
        assert problem is None, f"{problem}\n{written(design)}"
