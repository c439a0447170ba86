"""Gates of the release term, an additive push on xs that fires only where every gate is open (paper, S1.1 and
Table S2).

The baseline leaves a clause that hovers near the threshold with a tiny xs for long. The gates choose which of
them get a nudge: those whose memory xl is large, whose state c is in a window near the threshold, whose xs is
still small. Names at hand in `lines`: c, xl, xs, threshold (the effective gamma), hp.
"""

from __future__ import annotations

from evolake.designs.genome.parameters import Parameter
from evolake.designs.grammars.paper_genome.kind import Kind

KINDS: tuple[Kind, ...] = (
    Kind(
        "xl_gate",
        "release",
        "only clauses that stayed unsatisfied for long",
        (
            Parameter("xl_thr", "log_uniform", 300.0, 3.0, 1e5),
            Parameter("w_l", "log_uniform", 1.0, 0.1, 10.0),
        ),
        ("gate_xl = torch.sigmoid(torch.log(xl / hp.xl_thr) / hp.w_l)",),
        "gate_xl",
    ),
    Kind(
        "weak_band",
        "release",
        "only clauses just about satisfied, between eta and the threshold",
        (Parameter("eta", "uniform", 0.1, 0.01, 0.5), Parameter("w_b", "log_uniform", 0.05, 0.005, 0.5)),
        ("band = torch.sigmoid((c - hp.eta) / hp.w_b) * torch.sigmoid((threshold - c) / hp.w_b)",),
        "band",
    ),
    Kind(
        "near_gamma",
        "release",
        "a bell around the threshold",
        (Parameter("w_near", "log_uniform", 0.08, 0.01, 0.5),),
        ("bell = torch.exp(-(((c - threshold) / hp.w_near) ** 2))",),
        "bell",
    ),
    Kind(
        "one_sided",
        "release",
        "a window that is open below the threshold only",
        (Parameter("w_side", "log_uniform", 0.05, 0.005, 0.5),),
        ("window = torch.sigmoid((threshold - c) / hp.w_side)",),
        "window",
    ),
    Kind(
        "dead_zone",
        "release",
        "nothing until the clause is better than the threshold by a fraction tau",
        (Parameter("dead_tau", "uniform", 0.1, 0.0, 0.8),),
        ("cleared = torch.relu(1.0 - c / threshold - hp.dead_tau) / (1.0 - hp.dead_tau)",),
        "cleared",
    ),
    Kind(
        "smootherstep",
        "release",
        "a window of width ss_width with flat ends (quintic step)",
        (Parameter("ss_width", "log_uniform", 0.2, 0.02, 1.0),),
        (
            "ramp = torch.clamp(1.0 - torch.abs(c - threshold) / hp.ss_width, 0.0, 1.0)",
            "step = ramp * ramp * ramp * (10.0 - ramp * (15.0 - 6.0 * ramp))",
        ),
        "step",
    ),
    Kind(
        "push_up",
        "release",
        "pushes a small xs towards a target and stops there",
        (Parameter("xs_target", "uniform", 0.3, 0.02, 1.0),),
        ("lift = torch.relu(hp.xs_target - xs) / hp.xs_target",),
        "lift",
    ),
    Kind(
        "rational_warp",
        "release",
        "fades with xs along a rational curve; warp = 1 is a straight line",
        (Parameter("warp", "log_uniform", 1.0, 0.05, 20.0),),
        ("fade = (1.0 - xs) / (1.0 - xs + hp.warp * xs)",),
        "fade",
    ),
    Kind(
        "damping",
        "release",
        "a power of what is left of xs",
        (Parameter("damp_power", "int", 1, 1, 4),),
        ("left = (1.0 - xs) ** hp.damp_power",),
        "left",
    ),
    Kind(
        "violation",
        "release",
        "grows with how badly the clause is violated",
        (Parameter("viol_power", "log_uniform", 1.0, 0.25, 4.0),),
        ("violated = torch.clamp(c, 1e-6, 1.0) ** hp.viol_power",),
        "violated",
    ),
    Kind(
        "xl_gain",
        "release",
        "a boost that saturates with the memory",
        (
            Parameter("gain", "log_uniform", 1.0, 0.05, 20.0),
            Parameter("gain_half", "log_uniform", 100.0, 2.0, 1e5),
        ),
        ("boost = 1.0 + hp.gain * xl / (xl + hp.gain_half)",),
        "boost",
    ),
    Kind(
        "tail_shift",
        "release",
        "lets the tail gate open wider for clauses with a large memory",
        (Parameter("tail_mu", "uniform", 0.1, -1.0, 1.0),),
        ("headroom = hp.tail_mu * gate_xl",),
        None,
        ("xl_gate", "tail_gate"),
    ),
    Kind(
        "tail_gate",
        "release",
        "shuts the release before xs nears its upper bound",
        (Parameter("xs_tail", "uniform", 0.7, 0.1, 1.0), Parameter("w_tail", "log_uniform", 0.1, 0.01, 0.5)),
        ("tail = torch.sigmoid((hp.xs_tail - xs + headroom) / hp.w_tail)",),
        "tail",
    ),
    Kind(
        "amp_floor",
        "release",
        "keeps a small amplitude where the band or the push asks for it (soft or)",
        (Parameter("a_floor", "log_uniform", 0.02, 1e-3, 0.5),),
        ("floor = hp.a_floor * (1.0 - (1.0 - band) * (1.0 - lift))",),
        None,
        ("weak_band", "push_up", "amp_norm"),
    ),
    Kind(
        "amp_norm",
        "release",
        "weakens the push as the memory grows",
        (
            Parameter("xl_norm", "log_uniform", 3000.0, 10.0, 1e6),
            Parameter("amp_p", "log_uniform", 1.0, 0.2, 4.0),
        ),
        ("amplitude = (1.0 - floor) * (hp.xl_norm / (hp.xl_norm + xl)) ** hp.amp_p + floor",),
        "amplitude",
    ),
)

# What a line may lean on when the optional kind that sets it is absent: (name, kind that sets it, kind that
# reads it, neutral value).
NEUTRAL: tuple[tuple[str, str, str, str], ...] = (
    ("headroom", "tail_shift", "tail_gate", "0.0"),
    ("floor", "amp_floor", "amp_norm", "0.0"),
)
