"""Design 340 of the paper (section S1.1), written from its equations: the best design of its search.

The baseline's variables and long-term memory are untouched. The short-term memory gains a release: a clause that has waited long (xl large), that is
nearly satisfied (c in a weak band) and whose xs is low gets a bounded upward push, which fades again as xl grows very large.
"""

import math

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "xl": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e6)},
    "xs": {"init": lambda shape: torch.zeros(shape), "shape": ("B", "M"), "bounds": (0.0, 1.0)},
}

HYPER_SPACE = {
    "alpha": {"type": "log_uniform", "default": 11.235688545, "low": 0.5, "high": 50.0},
    "beta": {"type": "log_uniform", "default": 42.065836371, "low": 2.0, "high": 200.0},
    "gamma": {"type": "uniform", "default": 0.281994359, "low": 0.01, "high": 0.5},
    "delta": {"type": "uniform", "default": 0.080119353, "low": 0.01, "high": 0.5},
    "epsilon": {"type": "log_uniform", "default": 8.49962e-4, "low": 1e-4, "high": 1e-2},
    "zeta": {"type": "log_uniform", "default": 0.021103039, "low": 1e-4, "high": 1.0},
    "kappa": {"type": "uniform", "default": 1.014919369, "low": 0.0, "high": 2.0},
    "xl_threshold": {"type": "log_uniform", "default": 1000.379659, "low": 1.0, "high": 1e4},
    "xl_width": {"type": "uniform", "default": 2.025190327, "low": 0.1, "high": 5.0},
    "eta": {"type": "uniform", "default": 0.335452911, "low": 0.0, "high": 0.49},
    "band_width": {"type": "log_uniform", "default": 0.063176186, "low": 1e-3, "high": 0.2},
    "xs_star": {"type": "uniform", "default": 0.090885026, "low": 0.05, "high": 0.95},
    "xs_tail": {"type": "uniform", "default": 0.530799664, "low": 0.05, "high": 0.95},
    "tail_width": {"type": "log_uniform", "default": 0.106837921, "low": 1e-3, "high": 0.2},
    "tail_shift": {"type": "uniform", "default": 0.424182193, "low": 0.0, "high": 0.5},
    "xl_norm": {"type": "log_uniform", "default": 10086.845894, "low": 1e3, "high": 1e6},
    "amplitude_power": {"type": "uniform", "default": 1.752768188, "low": 0.5, "high": 4.0},
    "amplitude_floor": {"type": "log_uniform", "default": 0.009278704, "low": 1e-6, "high": 0.1},
    "lr": {"type": "log_uniform", "default": 2.986207806, "low": 0.1, "high": 3.0},
}


def _release(c, xl, xs, hp):
    gate_xl = torch.sigmoid((torch.log(xl) - math.log(hp.xl_threshold)) / hp.xl_width)
    weak_band = torch.sigmoid((c - hp.eta) / hp.band_width) * torch.sigmoid((hp.gamma - c) / hp.band_width)
    push_up = torch.relu(hp.xs_star - xs) / hp.xs_star
    gate_tail = torch.sigmoid((hp.xs_tail - xs + hp.tail_shift * gate_xl) / hp.tail_width)
    floor = hp.amplitude_floor * (1.0 - (1.0 - weak_band) * (1.0 - push_up))
    decay = torch.pow(hp.xl_norm / (hp.xl_norm + xl), hp.amplitude_power)
    return hp.kappa * gate_xl * weak_band * push_up * gate_tail * ((1.0 - floor) * decay + floor)


def _grad_single(vars, idx, sgn, hp):
    v, xl, xs = vars["v"], vars["xl"], vars["xs"]
    literals = sgn * v[idx]
    highest, position = literals.topk(2, dim=1)
    c, runner_up = (1.0 - highest).mul(0.5).unbind(1)
    best = position[:, :1]

    memory = xl * xs
    pull = (c * memory)[:, None].expand(-1, 3).scatter(1, best, (runner_up * memory)[:, None])
    hold = torch.zeros_like(pull).scatter(1, best, (c * (1.0 + hp.zeta * xl) * (1.0 - xs))[:, None])
    dv = torch.zeros_like(v).scatter_add(0, idx.flatten(), (sgn * (pull + hold)).flatten())
    dxl = hp.alpha * (c - hp.delta)
    dxs = hp.beta * ((xs + hp.epsilon) * (c - hp.gamma) + _release(c, xl, xs, hp))

    rate = 1.0 / dv.abs().max().clamp(min=1e-6)
    return {"v": -rate * dv, "xl": -rate * dxl, "xs": -rate * dxs}
