"""A ruler in a bundle: its marks and its length; both gates are asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evolake.bundles.model import Carried, Judging, LineBundle, Said
from evolake.gates import run_gates
from evolake.report.artifacts import Artifact
from golomb.rulers import GATES, ruler_id, rules

MARKS = "marks.json"


def carry(lake: Any, catalogue: Any, artifact: Artifact, settings: Any) -> Carried:
    """Its marks, and how long it is said to be."""
    marks = artifact.title
    return Carried({"length": max(json.loads(marks))}, {MARKS: marks.encode()})


def check(judging: Judging) -> Iterator[Said]:
    """Gates, identity, length."""
    marks, claimed = tuple(judging.bundle.read(MARKS)), judging.bundle.read("claims.json")["length"]
    if not marks or not all(type(mark) is int for mark in marks):
        raise ValueError("its marks are no whole numbers")
    done = run_gates(
        marks, GATES, judging.asked, artifact_id=judging.artifact_id, cycle="bundle", run_id="bundle"
    )
    objection = done.blocked_by
    yield Said(
        "gates",
        "fails" if objection else "holds",
        f"{objection.gate} blocks it: {objection.reason}" if objection else "both pass it",
    )
    yield Said(
        "identity",
        "holds" if ruler_id(marks) == judging.artifact_id else "fails",
        f"the marks are {list(marks)}",
    )
    yield Said(
        "length",
        "holds" if max(marks) == claimed else "fails",
        f"it is {max(marks)}, and it claims {claimed}",
    )


BUNDLE = LineBundle(("ruler",), (MARKS,), ("form", "distances"), carry, check, rules)
