"""Operators one by one: the compiled kernels, the torch engine and the plain interpreter give the same
numbers."""

import json
from pathlib import Path

import pytest
from unit.designs_engine.engine_support import VARIABLES, after, distance, small_batch, traced

from evolake.designs.engines.batched import VmapStepper

TEMPLATE = (
    VARIABLES
    + """
def _grad_single(vars, idx, sgn, hp):
    v, xl, xs = vars["v"], vars["xl"], vars["xs"]
    literals = v[idx] * sgn
    u = 0.5 * (1.0 - literals)
    c = u.amin(dim=1)
    dv = torch.zeros_like(v).index_add(0, idx.reshape(-1), (u * sgn).reshape(-1))
    extra = CLAUSE_TERM
    more = VARIABLE_TERM
    return {"v": -dv + more, "xl": extra - c, "xs": (xs - c) * extra}
"""
)

CLAUSE = json.loads(Path(__file__).with_name("clause_terms.json").read_text())

VARIABLE = {
    "sum of two": "torch.zeros_like(v).scatter_add(0, idx[:, 0], c) + v.scatter_add(0, idx[:, 1], xs)",
    "index_put": "v.index_put((idx[:, 2],), c, accumulate=True)",
    "scatter_reduce": "torch.zeros(v.shape[0]).scatter_reduce(0, idx.reshape(-1), u.reshape(-1), reduce='sum')",  # noqa: E501
    "degree": (
        "dv / torch.zeros_like(v).index_add(0, idx.reshape(-1), "
        "torch.ones_like(u).reshape(-1)).clamp_min(1.0)"
    ),
    "twice around": "torch.zeros_like(v).index_add(0, idx[:, 0], (dv[idx] * sgn).amax(1))",
    "planes": "torch.zeros_like(v).index_add(0, idx.t().reshape(-1), (u * sgn).t().reshape(-1))",
    "of v alone": "v * (v.abs().mean() - v.max()) + torch.sign(v) * v.std()",
}

LEFT_TO_TORCH = {
    "cumulative sum": "torch.cumsum(c, 0) / idx.shape[0]",
    "sorted clauses": "c.sort().values * 0.1 + c.sort(descending=True).indices.to(c.dtype) / idx.shape[0]",
    "median": "c - c.median() + c.kthvalue(3).values",
    "quantile": "c - torch.quantile(c, 0.75)",
    "where the largest is": "c * (dv.argmax().to(c.dtype) / v.shape[0]) + c.topk(4).values.sum()",
    "sine": "torch.sin(3 * c) + torch.cos(xs) + torch.erf(c) + torch.atan2(c, xs + 1)",
    "whole arithmetic": (
        "((literals > 0.123).sum(1) - 1).to(c.dtype) + ((literals > 0.123).to(torch.int64).sum(1) * "
        "2).to(c.dtype)"
    ),
    "matrix": "u @ torch.tensor([0.2, 0.3, 0.5]) + torch.mv(u, u[0])",
    "one after another": "torch.cumsum(c - c.median(), 0) * 0.01 + torch.cumsum(torch.cumsum(xs, 0), 0) * 1e-4",  # noqa: E501
    "chosen variables": "torch.sin(v)[idx].sum(1) + torch.cumsum(v, 0)[idx[:, 0]] / v.shape[0]",
}


def written(clause: str, variable: str) -> str:
    return TEMPLATE.replace("CLAUSE_TERM", clause).replace("VARIABLE_TERM", variable)


def check(clause: str, variable: str, engines: dict[str, str]) -> None:
    design = traced(written(clause, variable), dtype="float64")
    instances = small_batch(17, 3)
    _, plain, _ = after(design, "reference", instances, 3)
    for asked, expected in engines.items():
        ran, state, _ = after(design, asked, instances, 3)
        assert ran == expected
        assert distance(plain, state) < 1e-10
    mapped = VmapStepper(design, instances, 3, "float64")
    mapped.run(3)
    assert distance(plain, mapped.state()) < 1e-10


@pytest.mark.parametrize("name", CLAUSE)
def test_on_clauses_compiled(name):
    check(CLAUSE[name], "0 * v", {"auto": "fused", "torch": "torch"})


@pytest.mark.parametrize("name", VARIABLE)
def test_on_variables_compiled(name):
    check("c", VARIABLE[name], {"auto": "fused", "torch": "torch"})


@pytest.mark.parametrize("name", LEFT_TO_TORCH)
def test_without_a_kernel_left_to_torch_between_kernels(name):
    check(LEFT_TO_TORCH[name], "0 * v", {"auto": "mixed", "fused": "mixed", "torch": "torch"})


def test_what_fits_no_loop_runs_on_torch_alone():
    check("c * (v[1:] - v[:-1]).abs().mean()", "0 * v", {"auto": "torch"})


def test_random_numbers_are_the_same_in_every_engine_and_differ_by_step_and_instance():
    design = traced(written("c + torch.rand_like(c)", "torch.randn(v.shape[0]) * 0.1"), dtype="float64")
    instances = small_batch(17, 3)
    _, plain, _ = after(design, "reference", instances, 3)
    assert distance(plain, after(design, "mixed", instances, 3)[1]) < 1e-12
    assert distance(plain, after(design, "torch", instances, 3)[1]) < 1e-12
    mapped = VmapStepper(design, instances, 3, "float64")
    mapped.run(3)
    assert distance(plain, mapped.state()) < 1e-12
    assert distance(plain, after(design, "auto", instances, 3, seed=4)[1]) > 1e-3
