"""The digital MemComputing machine that everything else is measured against.

Each clause has the unsatisfaction c = (1 - largest literal)/2, a short-term memory xs that says whether the clause is unsatisfied now, and a
long-term memory xl that grows while it stays so. A clause pulls its literals up by a gradient-like term and holds its best literal by a rigid one.
Time is rescaled so that the fastest variable moves by lr in a step.
"""

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "xl": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e6)},
    "xs": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), "bounds": (0.0, 1.0)},
}

HYPER_SPACE = {
    "alpha": {"type": "log_uniform", "default": 5.0, "low": 0.5, "high": 50.0},
    "beta": {"type": "log_uniform", "default": 20.0, "low": 2.0, "high": 200.0},
    "gamma": {"type": "uniform", "default": 0.25, "low": 0.01, "high": 0.5},
    "delta": {"type": "uniform", "default": 0.05, "low": 0.01, "high": 0.5},
    "epsilon": {"type": "log_uniform", "default": 1e-3, "low": 1e-4, "high": 1e-2},
    "zeta": {"type": "log_uniform", "default": 1e-3, "low": 1e-4, "high": 1.0},
    "lr": {"type": "log_uniform", "default": 1.0, "low": 0.1, "high": 3.0},
}


def _grad_single(vars, idx, sgn, hp):
    xl, xs = vars["xl"], vars["xs"]
    literals = sgn * vars["v"][idx]
    highest, position = literals.topk(2, dim=1)
    unsatisfied = (1.0 - highest) / 2.0
    c, runner_up = unsatisfied[:, 0], unsatisfied[:, 1]
    is_best = torch.nn.functional.one_hot(position[:, 0], 3).to(c.dtype)

    pull = torch.where(is_best > 0, runner_up[:, None], c[:, None]) * (xl * xs)[:, None]
    hold = is_best * (c * (1.0 + hp.zeta * xl) * (1.0 - xs))[:, None]
    force = sgn * (pull + hold)
    dv = torch.zeros_like(vars["v"]).index_add(0, idx.reshape(-1), force.reshape(-1))
    dxl = hp.alpha * (c - hp.delta)
    dxs = hp.beta * (xs + hp.epsilon) * (c - hp.gamma)

    rate = 1.0 / dv.abs().max().clamp(min=1e-6)
    return {"v": -rate * dv, "xl": -rate * dxl, "xs": -rate * dxs}
