"""Terms on the two memories outside the release: the switch xs and the long-term weight xl.

Slot `xs` changes `threshold` (the effective gamma) or `short`, the baseline drive of the switch; slot `xl`
changes `long`, the drive of the weight (both before they are multiplied by beta and alpha). Names at hand: c,
xl, xs, v, hp, state.
"""

from __future__ import annotations

from evolake.designs.genome.parameters import Parameter
from evolake.designs.grammars.paper_genome.kind import Kind, StateVariable

KINDS: tuple[Kind, ...] = (
    Kind(
        "threshold_shift",
        "xs",
        "moves the threshold of clauses with a large memory",
        (
            Parameter("shift", "uniform", 0.1, -0.6, 0.6),
            Parameter("shift_half", "log_uniform", 300.0, 2.0, 1e5),
        ),
        ("threshold = threshold * (1.0 + hp.shift * xl / (xl + hp.shift_half))",),
    ),
    Kind(
        "asymmetric_rate",
        "xs",
        "lets the switch fall faster or slower than it rises",
        (Parameter("asymmetry", "log_uniform", 1.5, 0.1, 10.0),),
        ("short = torch.relu(short) - hp.asymmetry * torch.relu(-short)",),
    ),
    Kind(
        "violation_boost",
        "xs",
        "speeds the switch up on violated clauses while xs is low",
        (
            Parameter("viol_gain", "log_uniform", 0.5, 0.01, 10.0),
            Parameter("w_viol", "log_uniform", 0.05, 0.005, 0.5),
        ),
        ("short = short * (1.0 + hp.viol_gain * torch.sigmoid((c - threshold) / hp.w_viol) * (1.0 - xs))",),
    ),
    Kind(
        "xs_leak",
        "xs",
        "a constant leak that empties the switch",
        (Parameter("leak", "log_uniform", 0.01, 1e-4, 0.3),),
        ("short = short - hp.leak * xs",),
    ),
    Kind(
        "xl_saturate",
        "xl",
        "growth that slows as the weight nears a scale of its own",
        (Parameter("xl_scale", "log_uniform", 1e4, 10.0, 1e6),),
        ("long = torch.relu(long) * hp.xl_scale / (hp.xl_scale + xl) - torch.relu(-long)",),
    ),
    Kind(
        "xl_power",
        "xl",
        "growth in proportion to a power of the weight",
        (Parameter("xl_exponent", "uniform", 0.1, 0.0, 0.7),),
        ("long = long * xl ** hp.xl_exponent",),
    ),
    Kind(
        "xl_decay",
        "xl",
        "satisfied clauses forget at a rate in proportion to their weight",
        (Parameter("decay", "log_uniform", 1e-3, 1e-5, 0.3),),
        ("long = long - hp.decay * (xl - 1.0) * torch.relu(hp.delta - c) / hp.delta",),
    ),
    Kind(
        "xl_rivalry",
        "xl",
        "weights grow by how much worse a clause is than the average clause",
        (Parameter("rivalry", "uniform", 0.3, 0.0, 1.0),),
        ("long = long - hp.rivalry * torch.mean(c)",),
    ),
    Kind(
        "xl_momentum",
        "xl",
        "drives the weight by a running mean of its drive (one more variable a clause)",
        (
            Parameter("flow_mix", "uniform", 0.3, -0.5, 0.95),
            Parameter("flow_rate", "log_uniform", 5.0, 0.1, 200.0),
        ),
        (
            'flow = state["xl_flow"]',
            "d_xl_flow = hp.flow_rate * (c - hp.delta - flow)",
            "long = long + hp.flow_mix * (flow - (c - hp.delta))",
        ),
        variable=StateVariable("xl_flow", "M", -1.0, 1.0),
    ),
)
