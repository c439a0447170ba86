"""Terms on the force on v: how memories enter it (slot `mix`) and what is added to it (slot `v`).

`mix` terms change `weight` (xl as the force sees it) or `switch` (xs as the force sees it) before clauses are
summed; `v` terms change `dv` after. Names at hand: c, xl, xs, v, hp, state, weight, switch; in slot `v` also
dv and `largest`, the largest |dv| of the instance.
"""

from __future__ import annotations

from evolake.designs.genome.parameters import Parameter
from evolake.designs.grammars.paper_genome.kind import Kind, StateVariable

KINDS: tuple[Kind, ...] = (
    Kind(
        "weight_cap",
        "mix",
        "a weight that saturates in the force, however large the memory",
        (Parameter("cap", "log_uniform", 3e3, 10.0, 1e6),),
        ("weight = weight / (1.0 + weight / hp.cap)",),
    ),
    Kind(
        "weight_power",
        "mix",
        "a power of the memory in the force",
        (Parameter("weight_exponent", "uniform", 0.9, 0.3, 1.3),),
        ("weight = weight ** hp.weight_exponent",),
    ),
    Kind(
        "soft_mix",
        "mix",
        "a softer or harder change from holding to pushing",
        (Parameter("mix_power", "log_uniform", 1.3, 0.3, 3.0),),
        (
            "rising = torch.clamp(switch, 1e-6, 1.0) ** hp.mix_power",
            "falling = torch.clamp(1.0 - switch, 1e-6, 1.0) ** hp.mix_power",
            "switch = rising / (rising + falling)",
        ),
    ),
    Kind(
        "mix_leak",
        "mix",
        "keeps a little push on clauses that are being held",
        (Parameter("mix_floor", "log_uniform", 0.01, 1e-4, 0.3),),
        ("switch = hp.mix_floor + (1.0 - hp.mix_floor) * switch",),
    ),
    Kind(
        "edge_drag",
        "v",
        "slows variables that sit near their bounds",
        (Parameter("drag", "uniform", 0.2, -0.5, 0.95),),
        ("dv = dv * (1.0 - hp.drag * v * v)",),
    ),
    Kind(
        "v_bias",
        "v",
        "a field on each variable: its own slow mean (one more variable a variable)",
        (
            Parameter("bias_gain", "uniform", 0.02, -0.3, 0.3),
            Parameter("bias_rate", "log_uniform", 1.0, 0.05, 50.0),
        ),
        (
            'bias = state["v_bias"]',
            "d_v_bias = hp.bias_rate * (v - bias)",
            "dv = dv + hp.bias_gain * largest * bias",
        ),
        variable=StateVariable("v_bias", "N", -1.0, 1.0),
    ),
    Kind(
        "v_momentum",
        "v",
        "a running mean of the force (one more variable a variable)",
        (
            Parameter("inertia", "uniform", 0.2, -0.5, 1.5),
            Parameter("inertia_rate", "log_uniform", 5.0, 0.1, 200.0),
        ),
        (
            'drift = state["v_drift"]',
            "d_v_drift = hp.inertia_rate * (dv / largest - drift)",
            "dv = dv + hp.inertia * largest * drift",
        ),
        variable=StateVariable("v_drift", "N", -1.5, 1.5),
    ),
)
