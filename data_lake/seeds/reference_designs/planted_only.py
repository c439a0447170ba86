"""The best design of a search on planted and uniform formulas, in which equals shared their first rank; docs/contracts/design.md tells of it.

Nobody put its parts in. All literals of a clause are pushed down, the more the truer the clause's second best literal is, and xs holds nothing back.

It is here as a warning: on planted formulas of p0 up to 0.08 it needs a small part of design 340's work, and it solves no uniform random one. Where
a whole elite failed on a kind, each of its members had the first rank of that kind, so nothing that did better could enter.
"""

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "xl": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e6)},
    "xs": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), "bounds": (0.0, 1.0)},
    "m1": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), "bounds": (0.0, 1.0)},
}

HYPER_SPACE = {
    "alpha": {"type": "log_uniform", "default": 5.0, "low": 0.5, "high": 50.0},
    "beta": {"type": "log_uniform", "default": 20.0, "low": 2.0, "high": 300.0},
    "gamma": {"type": "uniform", "default": 0.271008, "low": 0.02, "high": 0.5},
    "delta": {"type": "uniform", "default": 0.05, "low": 0.005, "high": 0.3},
    "epsilon": {"type": "log_uniform", "default": 0.00151668, "low": 0.0001, "high": 0.05},
    "zeta": {"type": "log_uniform", "default": 0.001, "low": 0.0001, "high": 1.0},
    "lr": {"type": "log_uniform", "default": 2.28214, "low": 0.1, "high": 6.0},
    "k1": {"type": "log_uniform", "default": 0.16895, "low": 0.0016895, "high": 16.895},
    "k2": {"type": "log_uniform", "default": 0.042892, "low": 0.00247339, "high": 24.7339},
    "k3": {"type": "log_uniform", "default": 226.916, "low": 0.0226916, "high": 226.916},
}


def _grad_single(vars, idx, sgn, hp):
    v, xl, xs, m1 = vars["v"], vars["xl"], vars["xs"], vars["m1"]

    # c is 0 for a clause with a literal wholly true and 1 for one whose literals are all wholly false; second is that of its second best literal
    leading, place = torch.topk(v[idx] * sgn, 2, dim=1)
    unmet = 0.5 * (1.0 - leading)
    c, second = unmet[:, 0], unmet[:, 1]
    winner = place[:, :1]
    best = torch.zeros_like(v[idx]).scatter(1, winner, 1.0)
    rival = c.unsqueeze(1).expand(-1, 3).scatter(1, winner, second.unsqueeze(1))

    own = rival * (xl * xs).unsqueeze(1) + best * (c * (1.0 + hp.zeta * xl)).unsqueeze(1)
    force = own - hp.k1 * ((m1 - second).unsqueeze(1) + own)
    d_v = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), (sgn * force).reshape(-1))
    d_xs = hp.beta * hp.epsilon * (c - hp.gamma)
    d_xl = hp.alpha * (1.0 + hp.k2 * m1) * (c - hp.delta)
    d_m1 = hp.k3 + xs

    # time runs so that the fastest variable moves one unit in one unit of time; the engine descends, hence the sign
    scale = -1.0 / torch.clamp(torch.max(torch.abs(d_v)), min=1e-6)
    return {"v": d_v * scale, "xl": d_xl * scale, "xs": d_xs * scale, "m1": d_m1 * scale}
