"""The gates of a system prompt. A further one is an entry here with its function, a rule file that names it,
and a test with its planted fault.
"""

from __future__ import annotations

from evolake.gate_spec import GateSpec
from evolake.lazy import Lazy

_COLLECTING = "evolake.prompts.gates"
GATES = (
    GateSpec(
        0,
        "form",
        Lazy(f"{_COLLECTING}:form"),
        ("prompt_id", "parent", "replayed", "objection", "principles", "same_as"),
        asset="accepted",
        about="its lineage holds, its size, and that it is new",
    ),
    GateSpec(
        1,
        "leak",
        Lazy(f"{_COLLECTING}:leak"),
        ("prompt_id", "copies", "problems"),
        asset="accepted",
        about="no problem is in it",
    ),
)
