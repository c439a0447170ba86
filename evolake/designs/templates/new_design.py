"""A dynamical system that solves 3-SAT. A clause pulls its literals with a weight that grows while the clause is not satisfied.

A clause is satisfied once one literal is true, so its best literal is pulled only as far as the second best is missing, and the others as far as the
best is. That decides between two literals that could satisfy the clause; pulling all three alike would not.

The file is traced and never run on the host: use torch only, and no branch that depends on data. Shapes: N variables, M clauses; `idx` (M, 3) gives
the variable of each literal, `sgn` (M, 3) its sign. The engine steps against what `_grad_single` returns, keeps the bounds and adds the batch B.
"""

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "weight": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e6)},
}

HYPER_SPACE = {
    "growth": {"type": "log_uniform", "default": 10.0, "low": 0.5, "high": 50.0},
    "ease": {"type": "uniform", "default": 0.05, "low": 0.01, "high": 0.4},
    "lr": {"type": "log_uniform", "default": 1.0, "low": 0.1, "high": 3.0},
}


def _grad_single(vars, idx, sgn, hp):
    literals = sgn * vars["v"][idx]
    two_highest, position = literals.topk(2, dim=1)
    missing = (1.0 - two_highest) / 2.0
    best, second = missing[:, 0], missing[:, 1]
    is_best = torch.nn.functional.one_hot(position[:, 0], 3).to(best.dtype)
    strength = torch.where(is_best > 0, second[:, None], best[:, None]) * vars["weight"][:, None]
    dv = torch.zeros_like(vars["v"]).index_add(0, idx.reshape(-1), (sgn * strength).reshape(-1))
    rate = 1.0 / dv.abs().max().clamp(min=1e-6)
    return {"v": -rate * dv, "weight": -rate * hp.growth * (best - hp.ease)}
