"""The best design of a search in the open grammar, `benchmarks/designs_search.py`; docs/contracts/design.md has its figures.

Nobody put its parts in. Beside what is left of the baseline, each literal's force has a term that grows with the square of its variable's value,
the long-term memory integrates the clause's unsatisfaction without a threshold, and a fourth memory follows the second best literal of a clause.

It is here as a warning, too: on planted formulas, on which it was searched, it needs far less work than design 340; on uniform random ones it
needs four to six times that of the baseline (`benchmarks/designs_transfer.py` of commit 2474d774). What it has found is how planted formulas differ from others.
"""

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "xl": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e6)},
    "xs": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), "bounds": (0.0, 1.0)},
    "m1": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), "bounds": (-1.0, 1.0)},
}

HYPER_SPACE = {
    "alpha": {"type": "log_uniform", "default": 5.17415, "low": 0.5, "high": 50.0},
    "beta": {"type": "log_uniform", "default": 22.2948, "low": 2.0, "high": 300.0},
    "gamma": {"type": "uniform", "default": 0.282262, "low": 0.02, "high": 0.5},
    "delta": {"type": "uniform", "default": 0.0691088, "low": 0.005, "high": 0.3},
    "epsilon": {"type": "log_uniform", "default": 0.00113894, "low": 0.0001, "high": 0.05},
    "zeta": {"type": "log_uniform", "default": 0.00192821, "low": 0.0001, "high": 1.0},
    "lr": {"type": "log_uniform", "default": 2.42697, "low": 0.1, "high": 6.0},
    "k1": {"type": "log_uniform", "default": 0.437874, "low": 0.00387458, "high": 38.7458},
    "k2": {"type": "log_uniform", "default": 0.0311259, "low": 0.0027733, "high": 27.733},
    "k3": {"type": "log_uniform", "default": 0.0346901, "low": 0.000548166, "high": 5.48166},
    "k4": {"type": "log_uniform", "default": 0.0547299, "low": 0.000489673, "high": 4.89673},
    "k5": {"type": "log_uniform", "default": 2.13296, "low": 0.0213296, "high": 213.296},
    "k6": {"type": "log_uniform", "default": 0.0490741, "low": 0.000868228, "high": 8.68228},
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

    short = (1.0 - xs) * (1.0 + hp.zeta * (xl + hp.k2 * m1))
    force = (rival * (xl * xs).unsqueeze(1) - hp.k1 * torch.square(v[idx])) + (best * c.unsqueeze(1)) * short.unsqueeze(1)
    pull = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), (sgn * force).reshape(-1))
    d_v = pull * (1.0 + hp.k3 * (torch.log1p(torch.abs(pull)) * (1.0 + hp.k4 * (pull * (v + 1.0)))))
    d_xs = hp.beta * ((hp.epsilon + xs) * (c - hp.gamma))
    d_xl = hp.alpha * (c / (abs(hp.delta) + 0.001))
    share = torch.maximum(xl, torch.sigmoid(xs)) / (torch.abs(torch.maximum(xs, second * xl)) + 0.001)
    d_m1 = (second - m1) * (hp.k5 - hp.k6 * share)

    # time runs so that the fastest variable moves one unit in one unit of time; the engine descends, hence the sign
    scale = -1.0 / torch.clamp(torch.max(torch.abs(d_v)), min=1e-6)
    return {"v": d_v * scale, "xl": d_xl * scale, "xs": d_xs * scale, "m1": d_m1 * scale}
