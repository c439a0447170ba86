"""A continuous-time SAT solver with exponentially growing clause weights, after Ercsey-Ravasz and Toroczkai (Nature Physics 7, 2011).

A clause is as unsatisfied as the product k of its literals' distances from true. Each variable runs down the weighted sum of k squared; the weight
of a clause that stays unsatisfied grows, so that no trap holds for ever. Time is rescaled so that the fastest variable moves by lr in a step.
"""

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "weight": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e6)},
}

HYPER_SPACE = {
    "growth": {"type": "log_uniform", "default": 5.0, "low": 0.1, "high": 50.0},
    "lr": {"type": "log_uniform", "default": 0.5, "low": 0.05, "high": 3.0},
}


def _grad_single(vars, idx, sgn, hp):
    distance = (1.0 - sgn * vars["v"][idx]) / 2.0
    first, second, third = distance.unbind(1)
    k = first * second * third
    without = torch.stack((second * third, first * third, first * second), dim=1)

    force = sgn * (vars["weight"] * k)[:, None] * without
    dv = torch.zeros_like(vars["v"]).index_add(0, idx.reshape(-1), force.reshape(-1))
    rate = 1.0 / dv.abs().max().clamp(min=1e-6)
    return {"v": -rate * dv, "weight": -rate * hp.growth * vars["weight"] * k}
