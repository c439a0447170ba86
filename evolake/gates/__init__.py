"""Gates: from a candidate and a ruleset to verdicts, and the rules as files.

`rules` reads the rule files and pins their hash; `checkers` is the registry of named checks that rules refer
to; `evolake.gate_spec`, which imports nothing, says what a gate is; `run` takes candidates through gates, or
asks one about stored evidence. A verdict is a row of the lake; that a candidate is blocked is a value, never
an exception: `boundary` sees to it, and reports when blocks look like a fault of ours.
"""

from evolake.gate_spec import GateSpec, gate_named, gates_before, gates_of_assets
from evolake.gates.boundary import Raised, contained, is_machinery, raised_in, read_reason
from evolake.gates.checkers import CHECKERS, Finding, checker, find_checker
from evolake.gates.rules import Rule, Ruleset, load_rules
from evolake.gates.run import (
    GateResult,
    GateResults,
    Verdict,
    collected,
    gate_outcomes,
    is_usable,
    passed_gates,
    replay_gate,
    run_gates,
)

__all__ = [
    "CHECKERS",
    "Finding",
    "GateResult",
    "GateResults",
    "GateSpec",
    "Raised",
    "Rule",
    "Ruleset",
    "Verdict",
    "checker",
    "collected",
    "contained",
    "find_checker",
    "gate_named",
    "gate_outcomes",
    "gates_before",
    "gates_of_assets",
    "is_machinery",
    "is_usable",
    "load_rules",
    "passed_gates",
    "raised_in",
    "read_reason",
    "replay_gate",
    "run_gates",
]
