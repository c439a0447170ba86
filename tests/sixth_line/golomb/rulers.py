"""Rulers as tuples of marks, how one comes from another, and the gates that judge one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evolake.gates import Finding, GateSpec, Ruleset, Verdict, checker, load_rules, run_gates
from evolake.lake import incoming_tables, read_tables
from evolake.lines import folder_of

_tables = read_tables(Path(__file__).with_name("tables.toml"))
RULERS = _tables["golomb_rulers"]
PASSED = _tables["golomb_passed"]
GENERATIONS = {"rulers": RULERS}
"""What goes from cycle to cycle."""
TABLES = incoming_tables(GENERATIONS) | _tables.assets
"""Asset -> schema of every table that the line publishes."""


def ruler_id(marks: Sequence[int]) -> str:
    """sha256 of the marks."""
    return hashlib.sha256(json.dumps(list(marks)).encode()).hexdigest()


def ruler_row(marks: Sequence[int], cycle: str, parent: str | None = None) -> dict[str, Any]:
    """A row of RULERS. Bad marks make a row too: the gates are there to say so."""
    return {
        "ruler_id": ruler_id(marks),
        "cycle": cycle,
        "marks": json.dumps(list(marks)),
        "length": max(marks) - min(marks),
        "parent_id": parent,
    }


def seed_ruler(marks: int) -> tuple[int, ...]:
    """Powers of two less one: always a Golomb ruler, and a long one."""
    return tuple(2**k - 1 for k in range(marks))


def mutated(marks: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
    """One mark moved, nearer to zero more often than not; often no ruler at all."""
    moved = list(marks)
    at = int(rng.integers(1, len(moved)))
    moved[at] = max(0, moved[at] + int(rng.integers(-max(2, moved[at] // 3), 2)))
    return tuple(sorted(moved))


@checker("golomb.marks")
def marks_ascend(evidence: Mapping[str, Any]) -> Finding | None:
    """Marks start at 0 and ascend."""
    marks = evidence["marks"]
    if marks[0] != 0 or any(later <= earlier for earlier, later in pairwise(marks)):
        return Finding(f"marks {marks} do not ascend from 0")
    return None


@checker("golomb.distances")
def distances_differ(evidence: Mapping[str, Any]) -> Finding | None:
    """All distances differ."""
    twice = {gap for gap in evidence["distances"] if evidence["distances"].count(gap) > 1}
    return Finding(f"the distance {min(twice)} is measured twice") if twice else None


GATES = (
    GateSpec(0, "form", lambda marks: {"marks": list(marks)}),
    GateSpec(
        1,
        "distances",
        lambda marks: {"distances": [later - earlier for earlier, later in combinations(marks, 2)]},
    ),
)


def rules() -> Ruleset:
    """The rule files of this package."""
    return load_rules(folder_of("golomb.rules"), "golomb")


def verdicts(row: Mapping[str, Any], *, run_id: str) -> tuple[Verdict, ...]:
    """What the gates say of a row of RULERS."""
    return run_gates(
        tuple(json.loads(row["marks"])),
        GATES,
        rules(),
        artifact_id=row["ruler_id"],
        cycle=row["cycle"],
        run_id=run_id,
    ).verdicts
