"""Work: the same whatever the spelling, more for more, and never less for steps that are hidden inside a
step."""

import json

import pytest
from unit.designs_engine.engine_support import BASELINE, DESIGN_340, traced

from evolake.designs.compiler.expression import Inexpressible
from evolake.designs.compiler.kernel_plan import make_plan
from evolake.designs.compiler.lowering import lower
from evolake.designs.engines.isolated import work_apart
from evolake.designs.engines.tensor_operators import OPERATORS
from evolake.designs.model.operators import ALLOWED
from evolake.designs.work.classes import class_of_expression, class_of_torch
from evolake.designs.work.counting import count
from evolake.designs.work.relative import BASELINE as COUNTED
from evolake.designs.work.relative import COSTS, baseline_cost, work_per_step
from evolake.designs.work.rows import allowed_steps
from evolake.designs.work.substeps import substeps

SOURCE = BASELINE.read_text()
HEAD, BODY = SOURCE.split("def _grad_single(vars, idx, sgn, hp):\n")
FLOW = BODY.replace('vars["v"]', "v").replace('    xl, xs = vars["xl"], vars["xs"]\n', "")
FLOW = FLOW[: FLOW.index("    rate =")]


def repeated(times: int) -> str:
    """The baseline, which takes `times` steps of its own inside one."""
    body = FLOW.replace("    ", "        ")
    return (
        HEAD
        + f"""def _grad_single(vars, idx, sgn, hp):
    v, xl, xs = vars["v"], vars["xl"], vars["xs"]
    for _ in range({times}):
{body}
        dt = hp.lr / dv.abs().max().clamp(min=1e-6)
        v = (v + dt * dv).clamp(-1.0, 1.0)
        xl, xs = (xl + dt * dxl).clamp(1.0, 1e6), (xs + dt * dxs).clamp(0.0, 1.0)
    return {{"v": (vars["v"] - v) / hp.lr, "xl": (vars["xl"] - xl) / hp.lr, "xs": (vars["xs"] - xs) / hp.lr}}
"""
    )


def work(source: str, n: int = 160) -> float:
    return work_per_step(traced(source), n, int(4.3 * n))


def test_the_counts_of_the_baseline_are_those_of_the_shipped_file():
    assert count(traced(SOURCE)).by_loop == COUNTED
    assert [work(SOURCE, n) for n in (10, 160, 2560)] == [pytest.approx(1.0)] * 3
    assert baseline_cost(160, 688) > 0


@pytest.mark.parametrize("times", [2, 3, 8, 16])
def test_steps_inside_a_step_are_named_and_paid_for(times):
    design = traced(repeated(times))
    assert substeps(design.gradient()) == times
    assert 0.85 * times < work_per_step(design, 160, 688) < 1.2 * times


def test_a_step_that_costs_twice_as_much_leaves_half_the_steps_and_one_at_least():
    assert (allowed_steps(200.0, 2.0), allowed_steps(90.0, 0.3), allowed_steps(1.0, 7.5)) == (100, 300, 1)


def test_what_no_kernel_is_made_for_has_the_price_of_what_torch_runs():
    design = traced(repeated(24))
    with pytest.raises(Inexpressible, match="too many passes"):
        make_plan((lowered := lower(design, "float32")).moves, lowered.states)
    assert 8 * 24 < work_per_step(design, 160, 688) < 25 * 24


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(1.0 - highest) / 2.0", "0.5 * (1.0 - highest)"),
        ("literals.topk(2, dim=1)", "torch.sort(literals, dim=1, descending=True)"),
        ('vars["v"][idx]', 'vars["v"].index_select(0, idx.reshape(-1)).reshape(idx.shape)'),
        ("xl * xs)[:, None]", "xl * xs).unsqueeze(1)"),
    ],
)
def test_how_a_file_spells_a_step_hardly_matters(one, other):
    assert one in SOURCE
    assert work(SOURCE.replace(one, other)) == pytest.approx(1.0, rel=0.08)


TWICE = {
    "a running sum over powers": "    dxs = dxs + 1e-9 * torch.cumsum(c.pow(1.1), dim=0)\n",
    "a product of matrices": "    dxs = dxs + 1e-9 * torch.mm(literals, torch.mm(literals.t(), literals)).sum(dim=1)\n",  # noqa: E501
    "a sort of all clauses": "    dxs = dxs + 1e-9 * torch.sort(c).values\n",
    "random numbers": "    dxs = dxs + 1e-9 * torch.rand_like(c)\n",
    "exponentials": "    dxs = dxs + 1e-9 * torch.exp(c)\n",
    "a second sum over clauses": (
        "    dv = dv + 1e-9 * torch.zeros_like(dv).index_add(0, idx.reshape(-1), (force * "
        "force).reshape(-1))\n"
    ),
}


@pytest.mark.parametrize("what", TWICE)
def test_whatever_is_added_is_paid_for(what):
    parts = TWICE[what], TWICE[what] + TWICE[what].replace("1e-9", "2e-9")
    longer, twice = (SOURCE.replace("\n    rate =", "\n" + part + "    rate =") for part in parts)
    assert work(longer) > 1.0
    assert work(longer) <= work(twice)


def test_every_operator_has_a_class_and_every_class_a_price():
    assert {f"torch {class_of_torch(operator)}" for operator in ALLOWED} <= set(COSTS)
    assert {class_of_expression(operator) for operator in OPERATORS} <= set(COSTS)
    assert all(
        class_of_torch(operator) != "free"
        for operator in ("add.Tensor", "max.other", "max.dim", "sort.default", "exp.default", "mm.default")
    )
    assert all(price > 0 for kind, price in COSTS.items() if not kind.endswith("free"))


def test_the_work_of_shipped_designs_is_what_their_page_says():
    folder = DESIGN_340.parent
    works = {
        name: work((folder / f"{name}.py").read_text()) for name in ("design_340", "open_search", "in_turn")
    }
    assert works == {
        "design_340": pytest.approx(3.86, abs=0.01),
        "open_search": pytest.approx(1.76, abs=0.01),
        "in_turn": pytest.approx(1.48, abs=0.01),
    }


def test_work_is_counted_where_a_design_is_run_and_what_breaks_there_is_a_reason():
    text = json.dumps(traced(DESIGN_340.read_text()).to_json())
    assert work_apart(text, 160, 688) == pytest.approx(work(DESIGN_340.read_text()))
