"""The gates of a variant, cheapest first.

A further gate is an entry here with its function in `collecting`, a rule file under
data_lake/seeds/rules/solvers that names it, and a test with its planted fault; its asset, its verdicts'
number and its place in the report follow.
"""

from __future__ import annotations

from evolake.gate_spec import GateSpec
from evolake.lazy import Lazy
from evolake.solvers.tables import LATE_GATES

_COLLECTING = "evolake.solvers.gates.collecting"
GATES = (
    GateSpec(
        0,
        "compliance",
        Lazy(f"{_COLLECTING}:compliance"),
        about=(
            "layout, documents, and what the sources add to those of their seed, by rules over the syntax "
            "tree"
        ),
    ),
    GateSpec(
        1,
        "build",
        Lazy(f"{_COLLECTING}:build"),
        ("build", "base_flags"),
        asset="binaries",
        about="a clean build in the jail; the executable and the log are in the blob store",
    ),
    GateSpec(
        2,
        "smoke",
        Lazy(f"{_COLLECTING}:smoke"),
        ("runs",),
        about="small formulas with known answers, as they are, renamed and shuffled",
    ),
    GateSpec(
        3,
        "correctness",
        Lazy(f"{_COLLECTING}:correctness"),
        ("runs",),
        about="every model evaluated, every proof verified by an external checker",
    ),
    GateSpec(
        4,
        "stability",
        Lazy(f"{_COLLECTING}:stability"),
        ("runs", "carried"),
        asset="correctness",
        about="two runs that count alike, memory that holds, gains that carry over to copies",
    ),
)
KNOWN = (
    *GATES,
    *(
        GateSpec(len(GATES) + number, name, None, about="what came to light later")
        for number, name in enumerate(LATE_GATES)
    ),
)
"""Every gate that a rule may be of."""
GATE_NAMES = tuple(gate.name for gate in GATES)
RUN_GATES = tuple(gate.name for gate in GATES if "runs" in gate.evidence)
"""Those that judge runs of the built solver."""
