"""Baseline dynamics.

Terms: none (the baseline dynamics).
"""

import torch

VARIABLES_SPEC = {
    "v": dict(init=lambda shape: 2.0 * torch.rand(shape) - 1.0, shape=("B", "N"), bounds=(-1.0, 1.0)),
    "xl": dict(init=lambda shape: torch.ones(shape), shape=("B", "M"), bounds=(1.0, 1e6)),
    "xs": dict(init=lambda shape: torch.zeros(shape), shape=("B", "M"), bounds=(0.0, 1.0)),
}

HYPER_SPACE = {
    "alpha": dict(type="log_uniform", default=5.0, low=0.5, high=50.0),
    "beta": dict(type="log_uniform", default=20.0, low=2.0, high=300.0),
    "gamma": dict(type="uniform", default=0.25, low=0.02, high=0.5),
    "delta": dict(type="uniform", default=0.05, low=0.005, high=0.3),
    "epsilon": dict(type="log_uniform", default=0.001, low=0.0001, high=0.05),
    "zeta": dict(type="log_uniform", default=0.001, low=0.0001, high=1.0),
    "lr": dict(type="log_uniform", default=1.0, low=0.1, high=6.0),
}


def _grad_single(vars, idx, sgn, hp):
    v, xl, xs = vars["v"], vars["xl"], vars["xs"]

    # c is 0 for a clause with a literal wholly true and 1 for one whose literals are all wholly false
    literal = v[idx] * sgn
    leading, place = torch.topk(literal, 2, dim=1)
    unmet = 0.5 * (1.0 - leading)
    c, runner_up = unmet[:, 0], unmet[:, 1:]
    winner = place[:, :1]
    cost = c.unsqueeze(1)

    # the force on v: push while xs is high, hold the best literal while xs is low
    weight, switch = xl, xs
    push = cost.expand(-1, 3).scatter(1, winner, runner_up) * (weight * switch).unsqueeze(1)
    hold = torch.zeros_like(literal).scatter(1, winner, cost) * ((1.0 + hp.zeta * weight) * (1.0 - switch)).unsqueeze(1)
    pull = sgn * (push + hold)
    dv = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), pull.reshape(-1))

    # the switch xs
    threshold = hp.gamma
    short = (xs + hp.epsilon) * (c - threshold)
    dxs = hp.beta * short

    # the long-term weight xl
    long = c - hp.delta
    dxl = hp.alpha * long

    # time runs so that the fastest variable moves one unit in one unit of time; the engine descends, hence the sign
    scale = -1.0 / torch.clamp(torch.max(torch.abs(dv)), min=1e-6)
    return {"v": dv * scale, "xl": dxl * scale, "xs": dxs * scale}
