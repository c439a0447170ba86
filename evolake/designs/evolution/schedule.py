"""The multi-fidelity schedule: which sizes a design is run at, with how many steps, and which designs
continue (spec, "Experiment and schedule").

Sizes are N_k = round(n_start * 2**(k/2)), the budget of level k is steps_start * 2**k up to the fidelity's
cap, in steps of the baseline: a design whose step costs twice as much (`evolake.designs.work`) gets half as
many. A level that fails ends the schedule of that fidelity. The next fidelity resumes at the level after the
largest solved one; a level that had failed gets twice the steps it failed with, any other its plain budget.
`core_s` of a fidelity covers all its levels of one design together.

Pure functions over result rows (dicts with at least N, max_work, unsolved_fraction); nothing is run here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.work.rows import kind_of, max_work

Fidelity = Literal["low", "medium", "high"]
FIDELITIES: tuple[Fidelity, ...] = ("low", "medium", "high")
Row = Mapping[str, Any]
HIGH_SHARE = 0.1
"""Share of designs that continues to high fidelity, as in the paper."""
MOST_STEPS_PER_WORK = 10
"""A step costs at least a tenth of the baseline's: reading the variables and checking the clauses alone
do."""


@dataclass(frozen=True)
class Level:
    """One experiment to run: level `k` of size `n` with at most `max_work` steps of the baseline."""

    k: int
    n: int
    max_work: int


def limits_of(settings: DesignsSettings, fidelity: Fidelity) -> FidelitySettings:
    """Return bounds of a fidelity on size, work and time."""
    return {"low": settings.low, "medium": settings.medium, "high": settings.high}[fidelity]


def size_of(settings: DesignsSettings, k: int) -> int:
    """Return variables at level `k`; halves round up, as counting does (10, 14, 20, 28, 40, 57, 80, ...)."""
    return math.floor(settings.n_start * 2.0 ** (k / 2) + 0.5)


def budget_of(settings: DesignsSettings, fidelity: Fidelity, k: int) -> int:
    """Work at level `k` when it has not failed before."""
    return min(limits_of(settings, fidelity).max_steps, settings.steps_start * 2**k)


def sizes(settings: DesignsSettings, fidelity: Fidelity) -> tuple[int, ...]:
    """Return every size a fidelity may reach, ascending."""
    result: list[int] = []
    while (n := size_of(settings, len(result))) <= limits_of(settings, fidelity).max_n:
        result.append(n)
    return tuple(result)


def is_solved(row: Row) -> bool:
    """Success is binary: more than half of the batch solved."""
    return float(row["unsolved_fraction"]) < 0.5


def is_cut(row: Row) -> bool:
    """Return whether a clock cut the run before it had shown anything: neither solved nor unsolved."""
    return bool(row.get("timed_out")) and not is_solved(row)


def largest_solved(rows: Sequence[Row], kind: str = "planted") -> int:
    """Return largest N solved of a kind of formulas, 0 if none."""
    return max((int(row["N"]) for row in rows if is_solved(row) and kind_of(row) == kind), default=0)


def next_level(
    settings: DesignsSettings,
    fidelity: Fidelity,
    earlier: Sequence[Row],
    here: Sequence[Row],
    kind: str = "planted",
) -> Level | None:
    """Return the level to run now, or None when this fidelity is done.

    Args:
        earlier: this design's rows at lower fidelities.
        here: its rows at this fidelity so far, in order.
        kind: of the formulas; rows of others do not count.
    """
    earlier, here = ([row for row in rows if kind_of(row) == kind] for rows in (earlier, here))
    if here and not is_solved(here[-1]):
        return None
    reached = largest_solved([*earlier, *here], kind)
    k = next(level for level in range(10_000) if size_of(settings, level) > reached)
    n = size_of(settings, k)
    limits = limits_of(settings, fidelity)
    if n > (limits.max_n if kind == "planted" else min(limits.max_n, settings.uniform.max_n)):
        return None
    failed_with = [
        round(max_work(row))
        for row in earlier
        if int(row["N"]) == n and not is_solved(row) and not row.get("timed_out")
    ]
    budget = min(limits.max_steps, 2 * max(failed_with)) if failed_with else budget_of(settings, fidelity, k)
    return Level(k, n, budget)


def promotion_count(total: int, share: float) -> int:
    """Return how many of `total` ranked designs a share is: rounded up, so at least one of any, and never
    more than there are."""
    return min(total, max(1, math.ceil(total * share - 1e-9))) if total else 0


def promoted(order: Sequence[str], fidelity: Fidelity, settings: DesignsSettings) -> list[str]:
    """Return designs that continue to `fidelity`: the best share by consensus rank. `order` is best first;
    `low` takes everyone."""
    if fidelity == "low":
        return list(order)
    share = settings.medium_share if fidelity == "medium" else HIGH_SHARE
    return list(order[: promotion_count(len(order), share)])


def latest_levels(rows: Sequence[Row], kind: str = "planted") -> list[dict[str, Any]]:
    """Return one row of a kind of formulas per size, ascending: of a level that was tried again, the try with
    the most work. What a clock cut is left out.
    """
    best: dict[int, Row] = {}
    for row in rows:
        held = best.get(int(row["N"]))
        if is_cut(row) or kind_of(row) != kind:
            continue
        if held is None or max_work(row) >= max_work(held):
            best[int(row["N"])] = row
    return [dict(best[n]) for n in sorted(best)]
