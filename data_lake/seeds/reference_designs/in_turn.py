"""Two designs in turn.

The champion of a search on planted and uniform formulas (docs/contracts/design.md): fast on uniform formulas
until its clock has run out, then fast on planted ones. Uniform formulas that it has not solved by then are
hardly solved.

Open grammar: force:min, force:max, force:at, xs:max, xl:second, xl:div, memory:clause, memory:scalar.
"""

import torch

VARIABLES_SPEC = {
    "v": dict(init=lambda shape: 2.0 * torch.rand(shape) - 1.0, shape=("B", "N"), bounds=(-1.0, 1.0)),
    "xl": dict(init=lambda shape: torch.ones(shape), shape=("B", "M"), bounds=(1.0, 1e6)),
    "xs": dict(init=lambda shape: torch.zeros(shape), shape=("B", "M"), bounds=(0.0, 1.0)),
    "m1": dict(init=lambda shape: torch.zeros(shape), shape=("B", "M"), bounds=(-1.0, 1.0)),
    "m2": dict(init=lambda shape: torch.zeros(shape), shape=("B", "N"), bounds=(0.0, 1.0)),
}

HYPER_SPACE = {
    "alpha": dict(type="log_uniform", default=5.0158, low=0.5, high=50.0),
    "beta": dict(type="log_uniform", default=20.5786, low=2.0, high=300.0),
    "gamma": dict(type="uniform", default=0.25, low=0.02, high=0.5),
    "delta": dict(type="uniform", default=0.0525165, low=0.005, high=0.3),
    "epsilon": dict(type="log_uniform", default=0.00087396, low=0.0001, high=0.05),
    "zeta": dict(type="log_uniform", default=0.000962572, low=0.0001, high=1.0),
    "lr": dict(type="log_uniform", default=2.32043, low=0.1, high=6.0),
    "k1": dict(type="log_uniform", default=0.254428, low=0.00254428, high=25.4428),
    "k2": dict(type="log_uniform", default=0.0809863, low=0.000809863, high=8.09863),
    "k3": dict(type="log_uniform", default=0.448418, low=0.00448418, high=44.8418),
    "k4": dict(type="log_uniform", default=0.305482, low=0.00448418, high=44.8418),
    "k5": dict(type="log_uniform", default=1.089, low=0.01089, high=108.9),
}


def _grad_single(vars, idx, sgn, hp):
    v, xl, xs = vars["v"], vars["xl"], vars["xs"]
    m1 = vars["m1"]
    m2 = torch.max(vars["m2"])

    # c is 0 for a clause with a literal wholly true and 1 for one whose literals are all wholly false
    literal = v[idx] * sgn
    leading, place = torch.topk(literal, 2, dim=1)
    u = 0.5 * (1.0 - literal)
    unmet = 0.5 * (1.0 - leading)
    c, second = unmet[:, 0], unmet[:, 1]
    winner = place[:, :1]
    best = torch.zeros_like(literal).scatter(1, winner, 1.0)
    rival = c.unsqueeze(1).expand(-1, 3).scatter(1, winner, second.unsqueeze(1))
    log_variables = torch.log(torch.sum(torch.ones_like(v)))

    force = ((m2 * ((rival * ((xl * torch.minimum(xs, (xs * (1.0 + (xl * hp.zeta)))))).unsqueeze(1)) - (hp.k1 * (1.0 - 0.0)))) + (((1.0 - m2) * (rival * ((xl * (m1 * xs))).unsqueeze(1))) + ((((1.0 - xs) * (1.0 + (xl * hp.zeta)))).unsqueeze(1) * ((c).unsqueeze(1) * ((rival * ((xl * xs)).unsqueeze(1)) + ((((xs + 1.0) * (1.0 + (xl * hp.zeta)))).unsqueeze(1) * (torch.maximum(best, (c).unsqueeze(1)) * (1.0 + (hp.k2 * best)))))))))
    pull = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), (sgn * force).reshape(-1))
    drift = pull / torch.clamp(torch.max(torch.abs(pull)), min=1e-6)
    speed = torch.clamp(torch.max(torch.abs(pull)), min=1e-6)
    d_v = pull
    d_xs = (hp.beta * (torch.clamp(xs, min=hp.epsilon) * (c - hp.gamma)))
    d_xl = ((m2 * (hp.k3 * (c / (abs(hp.delta) + 0.001)))) + ((1.0 - m2) * ((c / (abs(hp.delta) + 0.001)) * (hp.alpha - (hp.k4 * second)))))
    d_m1 = (torch.maximum(c, xl) - m1)
    d_m2 = torch.zeros_like(v) + (torch.square((m2 + 0.005)) * (speed * (hp.k5 / (torch.abs(log_variables) + 0.001))))

    # time runs so that the fastest variable moves one unit in one unit of time; the engine descends, hence the sign
    scale = -1.0 / torch.clamp(torch.max(torch.abs(d_v)), min=1e-6)
    return {"v": d_v * scale, "xl": d_xl * scale, "xs": d_xs * scale, "m1": d_m1 * scale, "m2": d_m2 * scale}
