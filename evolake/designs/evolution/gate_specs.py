"""The gates of a design. A further one is an entry here with its function, an entry of `judging.COLLECT`, a
rule file that names it, and a test with its planted fault.

They judge designs where these are made: a blocked design is a row of `candidates`, and no separate asset
judges it again.
"""

from __future__ import annotations

from evolake.gate_spec import GateSpec
from evolake.lazy import Lazy

_COLLECTING = "evolake.designs.evolution.judging"
GATES = (
    GateSpec(
        0,
        "contract",
        Lazy(f"{_COLLECTING}:collect_contract"),
        ("blocked", "bytes"),
        asset="candidates",
        about="the file is a design: exports, variables, hyperparameters, the keys and shapes that come back",
    ),
    GateSpec(
        1,
        "trace",
        Lazy(f"{_COLLECTING}:collect_trace"),
        ("blocked", "nodes", "substeps"),
        asset="candidates",
        about=(
            "its dynamics are a graph of listed operators that takes few steps in one; time, memory and "
            "output in the jail stay within limits"
        ),
    ),
    GateSpec(
        2,
        "duplicate",
        Lazy(f"{_COLLECTING}:collect_duplicate"),
        ("twin",),
        asset="candidates",
        about="no other design computes the same",
    ),
    GateSpec(
        3,
        "dynamics",
        Lazy(f"{_COLLECTING}:collect_dynamics"),
        ("diverged_fraction", "failure"),
        asset="candidates",
        about="a few steps on small instances stay finite",
    ),
)
OBJECTIVE = GateSpec(
    0,
    "objective",
    Lazy("evolake.designs.evolution.judging_objectives:collect_trial"),
    ("scores", "runs", "told_apart", "nearest"),
    asset="objectives",
    about=(
        "it gives every measured design a number, whatever the order, tells designs apart, and ranks them "
        "as no other does"
    ),
)
KNOWN = (*GATES, OBJECTIVE)
"""Every gate that a rule may be of."""
