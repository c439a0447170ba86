"""Designs that only look cheap: spelled round an operator, round the gate on rounds inside a step, or made of
operators whose price and whose time differ."""

import time

import pytest
from unit.designs_engine.engine_support import BASELINE, traced
from unit.designs_engine.test_designs_work import SOURCE, repeated, work

from evolake.designs.engines.engine import make_stepper
from evolake.designs.evolution.judging import repeated_flow
from evolake.designs.model.instances import planted
from evolake.designs.work.substeps import substeps

MOVED = "        v = (v + dt * dv).clamp(-1.0, 1.0)\n"
SAME_TO_THE_LAST_BIT = {
    "a fraction": ("c - torch.trunc(c)", "torch.frac(c)"),
    "negated twice": ("c", "-(-c)"),
    "times one": ("c", "c * 1.0"),
    "over one, to the power of one": ("c", "(c / 1).pow(1)"),
    "the larger of two copies": ("c", "torch.stack([c, c]).amax(0)"),
    "the smallest of three, with its place": ("c", "torch.stack([c, c, c], dim=1).min(1).values"),
    "the larger of itself": ("c", "torch.maximum(c, c)"),
    "turned round twice": ("c", "c.flip(0).flip(0)"),
    "the size of a size": ("c.abs()", "c.abs().abs().clone()"),
}
BARRIERS = {
    "nothing": "",
    "the larger of two copies": "        v = torch.stack([v, v]).amax(0)\n",
    "the larger of all but copies": "        v = torch.stack([v, v - 1e-7]).amax(0)\n",
    "the mean of copies": "        v = torch.stack([v, v]).mean(0)\n",
    "a sort and its inverse": (
        "        order = torch.argsort(v)\n        v = torch.zeros_like(v).scatter(0, order, v[order])\n"
    ),
    "a permutation twice": "        back = torch.arange(v.shape[0] - 1, -1, -1)\n        v = v[back][back]\n",
    "a running sum and its differences": (
        "        sums = torch.cumsum(v, 0)\n        v = sums - torch.cat([sums[:1] * 0, sums[:-1]])\n"
    ),
    "the mean over a variable's literals": (
        "        flat = idx.reshape(-1)\n        each = torch.zeros_like(v).index_add(0, flat, v[flat])\n"
        "        v = each / torch.zeros_like(v).index_add(0, flat, torch.ones_like(v[flat])).clamp(min=1.0)\n"
    ),
    "a product with a row of ones": "        v = torch.mm(torch.ones(1, 1), v[None]).squeeze(0)\n",
}
ADDED = {
    "the square root of squares": ("z = torch.hypot(z + 0.1, c)", 30),
    "square roots": ("z = torch.sqrt(z + 0.1)", 30),
    "logarithms": ("z = torch.log1p(z)", 30),
    "fractions": ("z = torch.frac(z * 7.13 + 0.37)", 30),
    "error functions": ("z = torch.erf(z + 0.1)", 3),
    "remainders": ("z = torch.fmod(z + 0.1, 0.7)", 3),
    "a roll of all clauses": ("z = torch.roll(z * 0.9, 1, 0)", 3),
    "an order": ("z = z * 0.5 + 1e-5 * torch.argsort(z)", 2),
    "random numbers, a few": ("z = z + 1e-3 * torch.rand_like(vars['v'])[0]", 2),
    "more than torch is called for between kernels": ("z = torch.erf(z + 0.1)", 17),
    "sines of huge numbers": ("z = torch.sin(z * 1e30 + c)", 3),
    "a running sum": ("z = torch.cumsum(z * 0.5, 0)", 3),
    "an order of all values": ("z = torch.sort(z * 0.9 + c).values", 2),
    "twice the precision": ("z = z * 0.999 + 1e-3", 30, "c.double()"),
    "whole numbers": ("z = (z * 31 + idx[:, 1]) % 1013", 12, "idx[:, 0]"),
    "powers that are never chosen": ("z = torch.where(z > 1e9, torch.pow(z.abs() + 1, c), z * 0.9)", 10),
    "copies one after the other": (
        "z = torch.cat([z, z * 0.9, z * 0.8, z * 0.7] * 2).reshape(8, -1).amax(0)",
        3,
    ),
    "values from computed places": (
        "z = vars['v'][(idx[:, 0] * 7919 + idx[:, 1]) % vars['v'].shape[0]] * 0.5 + z",
        10,
    ),
}
"""Lines -> how often, and what z is at first if not c. Each is one name, and short."""
SQUARES = {
    "all pairs by broadcasting": "(v[:, None] * v[None, :]).sum(1)",
    "a product with the identity": "torch.matmul(torch.eye(v.shape[0]), v)",
}


def added(line: str, times: int, first: str = "c") -> str:
    lines = f"    z = {first}\n" + f"    {line}\n" * times + "    dxs = dxs + 1e-9 * z\n"
    return SOURCE.replace("\n    rate =", "\n" + lines + "    rate =")


@pytest.mark.parametrize("what", SAME_TO_THE_LAST_BIT)
def test_two_spellings_are_one_design(what):
    plain, detour = (
        traced(SOURCE.replace("\n    rate =", f"\n    dxs = dxs + 0.1 * ({term})\n    rate ="))
        for term in SAME_TO_THE_LAST_BIT[what]
    )
    assert plain.graph_sha == detour.graph_sha != traced(SOURCE).graph_sha


def test_whole_numbers_times_a_real_one_stay_what_they_become():
    term = "(torch.ones(3, dtype=torch.int64) * 1.0).sum() / 3.0 * c"
    design = traced(SOURCE.replace("\n    rate =", f"\n    dxs = dxs + 0.1 * ({term})\n    rate ="))
    assert sum(node.operator.startswith("mul") for node in design.gradient().nodes) > sum(
        node.operator.startswith("mul") for node in traced(SOURCE).gradient().nodes
    )


@pytest.mark.parametrize("barrier", BARRIERS)
def test_no_barrier_hides_rounds_inside_a_step(barrier):
    source = repeated(8)
    assert MOVED in source
    found = substeps(traced(source.replace(MOVED, MOVED + BARRIERS[barrier])).gradient())
    assert found >= 8
    assert repeated_flow({"substeps": found}, max_substeps=4)


def test_what_is_no_round_is_not_counted_as_one():
    degree = "torch.zeros_like(v).index_add(0, idx.reshape(-1), torch.ones_like(sgn).reshape(-1))"
    for term in (
        f"{degree}[idx].sum(1)",
        "literals.gather(1, position).sum(1)",
        "(v / v.abs().max())[idx].sum(1)",
    ):
        line = f"\n    v = vars['v']\n    dxs = dxs + 0.1 * {term}\n    rate ="
        assert substeps(traced(SOURCE.replace("\n    rate =", line)).gradient()) == 1, term


@pytest.mark.parametrize("what", SQUARES)
def test_work_that_grows_with_the_square_of_the_size_is_refused(what):
    line = f"\n    v = vars['v']\n    dv = dv + 1e-9 * {SQUARES[what]}\n    rate ="
    with pytest.raises(AssertionError, match="numbers an instance at N=1280, at most"):
        traced(SOURCE.replace("\n    rate =", line))


@pytest.mark.parametrize("what", ADDED)
def test_a_price_is_near_the_time_that_an_operator_takes(what):
    """Within 2.5, on a machine that others may use: the least of several rounds, both designs in turn."""
    n, batch = 160, 50
    source = added(*ADDED[what])
    instances = planted(n, batch, 1, ratio=4.3)
    steppers = [make_stepper(traced(text), instances, seed=1)[0] for text in (BASELINE.read_text(), source)]
    least = [float("inf")] * 2
    for _ in range(7):
        for place, stepper in enumerate(steppers):
            steps = (40, 4)[place]
            began = time.thread_time()
            stepper.run(steps)
            least[place] = min(least[place], (time.thread_time() - began) / steps)
    assert work(source, n) > 0.4 * least[1] / least[0]
