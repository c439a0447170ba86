"""Operators one by one: the compiled kernels, the torch engine and the plain interpreter give the same
numbers."""

from __future__ import annotations

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

CLAUSE = {
    "abs sqrt": "(c.abs() + 1.0).sqrt() + torch.rsqrt(xl) + torch.reciprocal(xl)",
    "exponentials": "torch.exp(-c) + torch.expm1(c) + torch.exp2(c) + torch.sigmoid(c) + torch.tanh(3 * c)",
    "logarithms": "torch.log(xl) + torch.log1p(xl) + torch.log2(xl) + torch.log10(xl)",
    "powers": (
        "c.pow(hp.a) + c**2 + c**3 + xl**-1 + torch.pow(2.0, c) + (1 + c).pow(xs) + torch.square(c) + (c "
        "+ 1) ** 0.5"
    ),
    "activations": (
        "F.softplus(8 * c - 3) + F.silu(c) + F.leaky_relu(c - 0.3) + F.elu(c - 0.3) + torch.relu(c - 0.3) "
        "+ F.hardtanh(3 * c)"
    ),
    "rounding": (
        "torch.floor(3 * c) + torch.ceil(3 * xs) + torch.trunc(5 * c - 2) + torch.sign(c - 0.4) + "
        "torch.sgn(xs - 0.2)"
    ),
    "clamps": (
        "c.clamp(0.1, 0.6) + c.clamp_min(0.2) + c.clamp_max(0.5) + torch.clamp(c, max=xs) + "
        "torch.minimum(c, xs) + torch.maximum(c, xs)"
    ),
    "comparisons": (
        "(c > xs).to(c.dtype) + (c <= 0.3).to(c.dtype) * 2 + torch.where(xs >= 0.2, c, xs) + ((c < 0.4) & "
        "(xs > 0.1)).to(c.dtype)"
    ),
    "logic": (
        "(~(c > 0.3)).to(c.dtype) + torch.logical_xor(c > 0.2, xs > 0.2).to(c.dtype) + c.masked_fill(xs > "
        "0.3, 0.5)"
    ),
    "arithmetic": (
        "torch.lerp(c, xs, 0.3) + torch.addcmul(c, xs, xl, value=0.5) + torch.addcdiv(c, xs, xl) + "
        "torch.sub(c, xs, alpha=2) + 1 / (1 + c)"
    ),
    "topk": (
        "(lambda t: t.values[:, 0] * 2 + t.values[:, 1] + t.indices[:, 0].to(c.dtype))(literals.topk(2, "
        "dim=-1))"
    ),
    "topk smallest": "(lambda t: t.values[:, 0] * 2 + t.values[:, 2])(literals.topk(3, dim=-1, largest=False))",  # noqa: E501
    "sort": "(lambda t: t[0][:, 2] - t[0][:, 0] + t[1][:, 1].to(c.dtype))(literals.sort(dim=-1))",
    "max with place": (
        "literals.max(dim=1).values + literals.min(dim=1).indices.to(c.dtype) + "
        "literals.argmax(dim=1).to(c.dtype)"
    ),
    "softmax": (
        "(torch.softmax(literals / 0.3, dim=-1) * u).sum(-1) + torch.log_softmax(u, -1)[:, 1] + "
        "torch.logsumexp(u, dim=-1)"
    ),
    "one hot": "(F.one_hot(literals.argmax(1), 3).to(c.dtype) * u).sum(1)",
    "scatter": "torch.zeros_like(u).scatter(1, literals.topk(2).indices[:, 1:2], c[:, None]).sum(1)",
    "scatter of a number": "u.scatter(1, literals.argmax(1, keepdim=True), 0.25)[:, 2]",
    "scatter_add small": "u.scatter_add(1, literals.topk(2).indices, torch.stack([c, xs], 1))[:, 0]",
    "in place": (
        "(lambda z: z.scatter_(1, literals.argmax(1, keepdim=True), "
        "1.0).mul_(2.0).sum(1))(torch.zeros_like(u))"
    ),
    "gather small": (
        "u.gather(1, literals.topk(2).indices[:, 1:2]).squeeze(-1) + torch.take_along_dim(u, "
        "literals.argmin(1, keepdim=True), 1)[:, 0]"
    ),
    "turned": "u.permute(1, 0)[1] + u.t()[2] + u.transpose(0, 1)[0] + u.flip(1)[:, 0] + u.roll(1, 1)[:, 0]",
    "shapes": (
        "u.reshape(-1).view(-1, 3)[:, 1] + u.unbind(1)[0] + u.split([1, 2], dim=1)[1][:, 0] + u.chunk(3, "
        "1)[2][:, 0]"
    ),
    "stack cat": "torch.stack([c, xs], dim=-1).sum(-1) + torch.cat([u, c[:, None]], dim=1).amax(1)",
    "expand repeat": (
        "(c[:, None].expand(-1, 3) * u).sum(1) + (c.unsqueeze(-1).repeat(1, 3) * u).mean(1) + u[:, "
        ":2].prod(1) + u[..., -1]"
    ),
    "factories": "torch.ones_like(c) + torch.full_like(c, 0.3) + c.new_zeros(c.shape) + torch.arange(3.0)[1]",
    "sized factories": "torch.full((c.shape[0],), 0.1) + torch.zeros(idx.shape[0]) + torch.ones(c.shape)",
    "reductions of all": (
        "c * (u.mean() + c.max() - c.min() + c.sum() / idx.shape[0] + c.std() + c.var(unbiased=False) + "
        "dv.norm() / 50)"
    ),
    "norms": (
        "c * (dv.abs().max() + dv.norm(p=1) / v.shape[0] + torch.linalg.vector_norm(c, ord=3) + "
        "(c**4).mean().sqrt() + dv.abs().amax())"
    ),
    "reductions of literals": "u.mean(dim=1) + u.std(dim=1) + u.norm(dim=1) + u.sum(1, keepdim=True)[:, 0]",
    "any and all": "(u > 0.4).any(dim=1).to(c.dtype) + (u > 0.1).all(dim=1).to(c.dtype)",
    "chained reductions": "(c - c.mean()) / ((c - c.mean()).abs().max() + (dv - dv.mean()).pow(2).mean())",
    "gather what was summed": "(dv[idx] * sgn).sum(1) + torch.tanh(v)[idx].mean(1)",
    "ways to gather": "v.index_select(0, idx[:, 0]) + v.gather(0, idx[:, 1]) + v.take(idx[:, 2])",
    "constants": (
        "c * torch.tensor([0.3, 0.2, 0.5])[1] + (u * torch.tensor([0.3, 0.2, 0.5])).sum(1) + "
        "torch.as_tensor(hp.a).clamp_min(0.1).log()"
    ),
    "sizes": (
        "c / idx.shape[0] + c * math.sqrt(v.shape[0]) + c * (idx.shape[0] / v.shape[0]) + c / math.log(2.0)"
    ),
    "tables": "torch.tensor([0.1, 0.4, 0.2])[literals.argmax(1)]",
    "deep": "sum(torch.sqrt(torch.as_tensor(float(k))) * c**2 for k in range(30))",
}

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
