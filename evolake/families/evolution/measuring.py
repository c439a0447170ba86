"""Run a draft through the gates that ask no model, and return all that they say against it in one list.

A model that writes in one reply is sent this before anybody is asked for validators or reviews, so a fault
that the jail finds in a second does not cost those calls. Nothing is decided here: the version that comes of
it goes through every gate like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.families.gates.collecting import GateContext
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.specs import GATES
from evolake.families.model.contract import Family
from evolake.families.model.similarity import Fingerprint
from evolake.families.readings.examining import examine
from evolake.families.sandbox.metering import MeteredPool
from evolake.gates import Finding, Raised, Ruleset, collected, contained, gate_named
from evolake.gates.checkers import apply

MEASURING = ("execution", "static", "sentences")
"""Gates that ask no model. What does not run at the first is not taken to the others."""

LISTED = frozenset({"unbacked", "unsaid", "idle", "dead", "dead_functions", "vague", "impure"})
"""Keys of evidence of which a rule names the first entry only."""
READINGS = "readings"


@dataclass(frozen=True)
class Measurement:
    """The outcome of a draft's run. faults: "gate: reason", in the order of gates and rules, then readings.
    costs: jail calls, cpu_s and wall_s."""

    faults: tuple[str, ...]
    costs: Mapping[str, float]


def measure_draft(
    family: Family, gates: FamilyGates, known: Sequence[Fingerprint], names: Sequence[str] = MEASURING
) -> Measurement:
    """Return all faults that these gates find and, if they are those of MEASURING, the catalogue of readings.

    Raises MachineryError when the jail failed.
    """
    context = GateContext(
        family, MeteredPool(gates.pool), gates.agents, gates.settings, known, gates.root_seed, ""
    )
    faults: list[str] = []
    for name in names:
        context.pool.gate = name
        evidence = collected(gate_named(GATES, name).collector(), context)
        found = [f"{name}: {reason}" for reason in findings(gates.ruleset, name, evidence)]
        faults += found
        if (found and name == names[0] and not _runs(evidence)) or (
            context.sample is None and name == "static"
        ):
            break
    faults += _misreadings(family, context) if context.sample is not None and names == MEASURING else []
    costs = context.pool.costs.values()
    return Measurement(
        tuple(faults), {key: sum(account[key] for account in costs) for key in ("calls", "cpu_s", "wall_s")}
    )


def _runs(evidence: Mapping[str, Any]) -> bool:
    """Return whether the execution gate's evidence has all instances, with an answer of the primary to
    each."""
    primary = evidence.get("voters", {}).get("primary")
    return (
        all(item[2] == "ok" for item in evidence.get("instances", [["", "", "none"]]))
        and primary is not None
        and not primary["failures"]
    )


def _misreadings(family: Family, context: GateContext) -> list[str]:
    """Return what the text fixes and the programs do otherwise, and what no sentence fixes
    (evolake.families.readings)."""
    assert context.sample is not None, "the sample is drawn by the static gate"
    context.pool.gate = READINGS
    places = contained(examine, family, context.sample, pool=context.pool, settings=context.settings)
    return (
        []
        if isinstance(places, Raised)
        else [f"{READINGS}: {place.remark()}" for place in places if place.open]
    )


def findings(ruleset: Ruleset, gate: str, evidence: Mapping[str, Any]) -> list[str]:
    """Return what every rule of a gate says against a candidate, where judging stops at the first. The same
    words are returned once.

    A rule names the first of several sentences or numbers that it objects to. It is applied to each of them,
    so all are named.
    """
    listed = [(key, value) for key, value in evidence.items() if key in LISTED and isinstance(value, list)]
    views = [evidence, *({**evidence, key: [item]} for key, value in listed for item in value)]
    results = [
        contained(apply, rule.check, view, rule.parameters)
        for rule in ruleset.of_gate(gate)
        for view in views
    ]
    return list(dict.fromkeys(result.reason for result in results if isinstance(result, Finding | Raised)))
