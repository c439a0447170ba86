"""Run a draft through the gates that ask no model, and return all that they say against it at once.

A model that writes in one reply is sent this before anybody is asked for validators or reviews, so a fault that the jail finds in a second does not
cost those calls. Nothing is decided here: the version that comes of it goes through every gate like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.families.gates.collecting import Course
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

READINGS = "readings"


@dataclass(frozen=True)
class Measurement:
    """What a draft's run came to. faults: "gate: reason", in the order of gates and rules, then readings. costs: jail calls, cpu_s and wall_s."""

    faults: tuple[str, ...]
    costs: Mapping[str, float]


def measure_draft(family: Family, gates: FamilyGates, known: Sequence[Fingerprint]) -> Measurement:
    """Return all faults that the gates of MEASURING and the catalogue of readings find. Raises MachineryError when the jail failed."""
    course = Course(family, MeteredPool(gates.pool), gates.agents, gates.settings, known, gates.root_seed, "")
    faults: list[str] = []
    for name in MEASURING:
        course.pool.gate = name
        evidence = collected(gate_named(GATES, name).collector(), course)
        found = [f"{name}: {reason}" for reason in findings(gates.ruleset, name, evidence)]
        faults += found
        if (found and name == MEASURING[0]) or (course.sample is None and name == "static"):
            break
    faults += _misreadings(family, course) if course.sample is not None else []
    costs = course.pool.costs.values()
    return Measurement(tuple(faults), {key: sum(account[key] for account in costs) for key in ("calls", "cpu_s", "wall_s")})


def _misreadings(family: Family, course: Course) -> list[str]:
    """Return what the text fixes and the programs do otherwise, and what no sentence fixes (evolake.families.readings)."""
    assert course.sample is not None, "the sample is drawn by the static gate"
    course.pool.gate = READINGS
    places = contained(examine, family, course.sample, pool=course.pool, settings=course.settings)
    return [] if isinstance(places, Raised) else [f"{READINGS}: {place.remark()}" for place in places if place.open]


def findings(ruleset: Ruleset, gate: str, evidence: Mapping[str, Any]) -> list[str]:
    """Return what every rule of a gate says against a candidate, where judging stops at the first. The same words are returned once."""
    results = [contained(apply, rule.check, evidence, rule.parameters) for rule in ruleset.of_gate(gate)]
    return list(dict.fromkeys(result.reason for result in results if isinstance(result, Finding | Raised)))
