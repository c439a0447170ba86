"""Read work from rows of experiments, duels and races."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def allowed_steps(max_work: float, per_step: float) -> int:
    """Return the steps that a design may take within `max_work`, at least one."""
    return max(1, math.floor(max_work / per_step + 1e-9))


def kind_of(row: Mapping[str, Any]) -> str:
    """Return the kind of the formulas of a run; those of a duel, which names none, are planted."""
    return str(row.get("kind") or "planted")


def median_work(row: Mapping[str, Any]) -> float:
    """Return the work until half was solved, in steps of the baseline."""
    stored = row.get("median_work")
    return float(row["median_step"]) if stored is None else float(stored)


def max_work(row: Mapping[str, Any]) -> float:
    """Return the work that a run was allowed, in steps of the baseline."""
    stored = row.get("max_work")
    return float(row["max_steps"]) if stored is None else float(stored)


def per_step(row: Mapping[str, Any]) -> float:
    """Return the cost of a step relative to one of the baseline."""
    stored = row.get("work_per_step")
    return 1.0 if stored is None else float(stored)
