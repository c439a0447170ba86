"""The equations of the baseline and of design 340 in plain numpy, float64, one instance at a time: written
from the paper, not from the graphs."""

from __future__ import annotations

import numpy as np


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def release_340(c, xl, xs, p):
    """The release term of section S1.1."""
    gate_xl = sigmoid((np.log(xl) - np.log(p["xl_threshold"])) / p["xl_width"])
    weak_band = sigmoid((c - p["eta"]) / p["band_width"]) * sigmoid((p["gamma"] - c) / p["band_width"])
    push_up = np.maximum(p["xs_star"] - xs, 0) / p["xs_star"]
    gate_tail = sigmoid((p["xs_tail"] - xs + p["tail_shift"] * gate_xl) / p["tail_width"])
    floor = p["amplitude_floor"] * (1 - (1 - weak_band) * (1 - push_up))
    amplitude = (1 - floor) * (p["xl_norm"] / (p["xl_norm"] + xl)) ** p["amplitude_power"] + floor
    return p["kappa"] * gate_xl * weak_band * push_up * gate_tail * amplitude


def step(v, xl, xs, idx, sgn, p, release=None):
    """One step of one instance; v (N,), xl and xs (M,), idx and sgn (M, 3)."""
    literals = sgn * v[idx]
    dv = np.zeros_like(v)
    dxl, dxs = np.zeros_like(xl), np.zeros_like(xs)
    for clause in range(len(idx)):
        order = sorted(range(3), key=lambda place: (-literals[clause, place], place))
        best, second = order[0], order[1]
        c = (1 - literals[clause, best]) / 2
        for place in range(3):
            pull = (1 - literals[clause, second]) / 2 if place == best else c
            force = pull * xl[clause] * xs[clause]
            if place == best:
                force += c * (1 + p["zeta"] * xl[clause]) * (1 - xs[clause])
            dv[idx[clause, place]] += sgn[clause, place] * force
        dxl[clause] = p["alpha"] * (c - p["delta"])
        extra = release(c, xl[clause], xs[clause], p) if release else 0.0
        dxs[clause] = p["beta"] * ((xs[clause] + p["epsilon"]) * (c - p["gamma"]) + extra)
    rate = p["lr"] / max(np.abs(dv).max(), 1e-6)
    return np.clip(v + rate * dv, -1, 1), np.clip(xl + rate * dxl, 1, 1e6), np.clip(xs + rate * dxs, 0, 1)
