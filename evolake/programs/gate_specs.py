"""The gates of a program. A further one is an entry here with its function, a rule file that names it, and a
test with its planted fault; after `run`, also an entry of `search_memory.EVALUATED`.
"""

from __future__ import annotations

from evolake.gate_spec import GateSpec
from evolake.lazy import Lazy

_COLLECTING = "evolake.programs.gates"
GATES = (
    GateSpec(
        0,
        "form",
        Lazy(f"{_COLLECTING}:form"),
        ("outside", "unreadable", "characters", "same_as"),
        asset="accepted",
        about="it changes nothing outside its blocks, can be read, and is no copy",
    ),
    GateSpec(
        1,
        "reach",
        Lazy(f"{_COLLECTING}:reach"),
        ("mode", "reaches", "constants"),
        asset="accepted",
        about="it names nothing of what scores it, and holds none of its constants",
    ),
    GateSpec(
        2, "build", Lazy(f"{_COLLECTING}:build"), ("command", "reason"), asset="accepted", about="it builds"
    ),
    GateSpec(
        3,
        "run",
        Lazy(f"{_COLLECTING}:run"),
        ("status", "reason", "tampered"),
        asset="accepted",
        about="its evaluation ends in time and memory, with what scores it as it was",
    ),
    GateSpec(
        4,
        "result",
        Lazy(f"{_COLLECTING}:result"),
        ("metrics", "odd", "declared", "score"),
        asset="accepted",
        about="the result is finite numbers of the declared shape",
    ),
    GateSpec(
        5,
        "novel",
        Lazy(f"{_COLLECTING}:novel"),
        ("behaves_as",),
        asset="accepted",
        about="no living program gives the same metrics",
    ),
)
