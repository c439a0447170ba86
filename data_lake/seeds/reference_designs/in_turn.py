"""Two designs in turn.

The champion of a search on planted and uniform formulas (docs/contracts/design.md): fast on uniform formulas
until its clock has run out, then fast on planted ones. Uniform formulas that it has not solved by then are
hardly solved.

Open grammar: force:u, force:at, v:v, xs:second, memory:clause, memory:scalar.
"""

import torch

VARIABLES_SPEC = {
    "v": dict(init=lambda shape: 2.0 * torch.rand(shape) - 1.0, shape=("B", "N"), bounds=(-1.0, 1.0)),
    "xl": dict(init=lambda shape: torch.ones(shape), shape=("B", "M"), bounds=(1.0, 1e6)),
    "xs": dict(init=lambda shape: torch.zeros(shape), shape=("B", "M"), bounds=(0.0, 1.0)),
    "m1": dict(init=lambda shape: torch.zeros(shape), shape=("B", "M"), bounds=(0.0, 1.0)),
    "m2": dict(init=lambda shape: torch.zeros(shape), shape=("B", "N"), bounds=(0.0, 1.0)),
    "m3": dict(init=lambda shape: torch.zeros(shape), shape=("B", "N"), bounds=(0.0, 1.0)),
}

HYPER_SPACE = {
    "alpha": dict(type="log_uniform", default=8.63299, low=0.5, high=50.0),
    "beta": dict(type="log_uniform", default=17.3438, low=2.0, high=300.0),
    "gamma": dict(type="uniform", default=0.25, low=0.02, high=0.5),
    "delta": dict(type="uniform", default=0.05, low=0.005, high=0.3),
    "zeta": dict(type="log_uniform", default=0.000728809, low=0.0001, high=1.0),
    "lr": dict(type="log_uniform", default=3.86293, low=0.1, high=6.0),
    "k1": dict(type="log_uniform", default=0.882991, low=0.00298777, high=29.8777),
    "k2": dict(type="log_uniform", default=0.475636, low=0.00475636, high=47.5636),
    "k3": dict(type="log_uniform", default=15.8426, low=2.0, high=300.0),
    "k4": dict(type="log_uniform", default=0.0111327, low=0.000490713, high=4.90713),
    "k5": dict(type="log_uniform", default=0.0835267, low=0.000835267, high=8.35267),
    "k6": dict(type="log_uniform", default=0.372723, low=0.00372723, high=37.2723),
    "k7": dict(type="log_uniform", default=6.19288, low=0.5, high=50.0),
    "k8": dict(type="uniform", default=0.0977279, low=0.005, high=0.3),
    "k9": dict(type="log_uniform", default=0.05122, low=0.000519107, high=5.19107),
    "k10": dict(type="log_uniform", default=0.352701, low=0.00352701, high=35.2701),
    "k11": dict(type="log_uniform", default=0.152094, low=0.00158621, high=15.8621),
    "k12": dict(type="log_uniform", default=0.959351, low=0.00959351, high=95.9351),
    "k13": dict(type="log_uniform", default=0.959351, low=0.00959351, high=95.9351),
}


def _grad_single(vars, idx, sgn, hp):
    v, xl, xs = vars["v"], vars["xl"], vars["xs"]
    m1 = vars["m1"]
    m2 = torch.max(vars["m2"])
    m3 = torch.max(vars["m3"])

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

    force = ((m2 * ((c).unsqueeze(1) - ((hp.k1 * u) * (1.0 - 0.0)))) + ((rival * ((xl * xs)).unsqueeze(1)) + ((1.0 - m2) * ((best * (c).unsqueeze(1)) * (((1.0 - xs) * (1.0 + (xl * hp.zeta)))).unsqueeze(1)))))
    pull = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), (sgn * force).reshape(-1))
    drift = pull / torch.clamp(torch.max(torch.abs(pull)), min=1e-6)
    speed = torch.clamp(torch.max(torch.abs(pull)), min=1e-6)
    d_v = (pull - (m2 * (hp.k2 * v)))
    d_xs = (((1.0 - m2) * (hp.k3 * (c - hp.gamma))) + (m2 * ((hp.k4 * second) + (hp.beta * (c - (hp.gamma - (hp.k5 * c)))))))
    d_xl = ((m2 * (hp.alpha * (c - (hp.delta + (hp.k6 * c))))) + ((1.0 - m2) * (hp.k7 * (c - (hp.k8 + (hp.k9 * m1))))))
    pace = (m3 + (hp.k10 * (1.0 - m3)))
    d_m1 = torch.clamp(second, min=hp.k11)
    d_m2 = torch.zeros_like(v) + (torch.square((m2 + 0.005)) * (speed * (hp.k12 / (torch.abs(log_variables) + 0.001))))
    d_m3 = torch.zeros_like(v) + (torch.square((m3 + 0.005)) * (speed * (hp.k13 / (torch.abs(log_variables) + 0.001))))

    # time runs so that the fastest variable moves one unit in one unit of time; the engine descends, hence the sign
    scale = -pace / torch.clamp(torch.max(torch.abs(d_v)), min=1e-6)
    return {"v": d_v * scale, "xl": d_xl * scale, "xs": d_xs * scale, "m1": d_m1 * scale, "m2": d_m2 * scale, "m3": d_m3 * scale}
