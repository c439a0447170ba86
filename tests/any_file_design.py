"""A design of no family: what "any design file" means in the benchmark. It works badly; it is here for the
operators it uses.

A softmax in place of the best literal, a momentum on the variables, p-norms and standard deviations for the
time scale, a cumulative sum that no kernel is generated for when `MIXED` is true (the second variant of the
benchmark), logarithms, powers, tanh and softplus.
"""

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "drift": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "N"), "bounds": (-10.0, 10.0)},
    "xl": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e6)},
    "xs": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), "bounds": (0.0, 1.0)},
    "share": {"init": lambda shape: torch.full(shape, 1 / 3), "shape": ("B", "M", 3), "bounds": (0.0, 1.0)},
}

HYPER_SPACE = {
    "tau": {"type": "log_uniform", "default": 0.2, "low": 0.01, "high": 1.0},
    "power": {"type": "uniform", "default": 6.5, "low": 2.0, "high": 16.0},
    "rate": {"type": "uniform", "default": 0.3, "low": 0.0, "high": 1.0},
    "lr": {"type": "log_uniform", "default": 0.5, "low": 0.1, "high": 3.0},
}

MIXED = False


def _grad_single(vars, idx, sgn, hp):
    v, drift, xl, xs, share = vars["v"], vars["drift"], vars["xl"], vars["xs"], vars["share"]
    literals = v[idx] * sgn
    weights = torch.softmax(literals / hp.tau, dim=-1)
    soft = (1.0 - torch.logsumexp(literals / hp.tau, dim=-1) * hp.tau).clamp(0.0, 2.0) / 2.0
    order = torch.sort(literals, dim=-1, descending=True).values
    gap = torch.tanh((order[:, 0] - order[:, 1]) * 3.0)
    push = (soft[:, None] * (weights + share) * (1.0 + torch.log1p(xl)[:, None]) * (0.1 + xs[:, None])).pow(
        1.1
    )
    force = torch.zeros_like(v).index_add(0, idx.reshape(-1), (push * sgn).reshape(-1))
    dv = force + hp.rate * drift
    size = dv.abs().clamp_min(1e-9).pow(hp.power).mean().pow(1.0 / hp.power)
    spread = soft.std() + 1e-6
    rate = 1.0 / torch.maximum(size, 0.01 * spread)
    dxl = torch.nn.functional.softplus(8.0 * (soft - 0.1)) - 0.3
    dxs = torch.expm1(soft - 0.25) * (1.0 + gap) - 0.05 * xs
    if MIXED:
        dxs = dxs + 1e-6 * torch.cumsum(soft, dim=0) / idx.shape[0]
    return {
        "v": -rate * dv,
        "drift": -rate * (force - drift),
        "xl": -rate * dxl,
        "xs": -rate * dxs,
        "share": -(weights - share),
    }
