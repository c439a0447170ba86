"""How large the instances of a tuning's trials may be: the largest that the cycle's budget allows.

What wins at small sizes may fail at large ones, so a trial should go as far as can be paid for. What a trial
takes is counted in work times instances times variables: it is the same on every machine, and about
proportional to processor time. A trial is expected to take what the design as it is took at each size; where
that was not measured, what a power law through its sizes says, and at most what the schedule gives the size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.designs.evolution.extrapolation import extrapolate
from evolake.designs.evolution.schedule import (
    FIDELITIES,
    Fidelity,
    budget_of,
    latest_levels,
    limits_of,
    sizes,
)
from evolake.designs.settings import DesignsSettings
from evolake.designs.work.rows import per_step

MILLION = 10**6


def work_of(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return what rows of EXPERIMENTS took: work times instances times variables, over all."""
    return sum(
        round(int(row["steps_run"]) * per_step(row)) * int(row["batch"]) * int(row["N"]) for row in rows
    )


def largest_size(rows: Sequence[Mapping[str, Any]], settings: DesignsSettings) -> int:
    """Return the largest size at which `tuning_trials` trials and the design as it is stay within
    `tuning_work`; the smallest of all if none does.

    Args:
        rows: of EXPERIMENTS, of the design as it is.
    """
    allowed = sizes(settings, settings.tuning_fidelity)
    if settings.tuning_work == 0:
        return allowed[-1]
    per_trial = settings.tuning_work * MILLION / (settings.tuning_trials + 1)
    measured = {
        int(level["N"]): round(int(level["steps_run"]) * per_step(level)) for level in latest_levels(rows)
    }
    spent, result = 0.0, allowed[0]
    for k, n in enumerate(allowed):
        spent += _expected_work(k, n, measured, rows, settings) * settings.batch * n
        if spent > per_trial:
            break
        result = n
    return result


def capped(settings: DesignsSettings, n: int) -> DesignsSettings:
    """Return the settings with no size above `n` at any fidelity."""
    limits = {name: limits_of(settings, name) for name in FIDELITIES}
    return settings.model_copy(
        update={name: held.model_copy(update={"max_n": min(held.max_n, n)}) for name, held in limits.items()}
    )


def _expected_work(
    k: int, n: int, measured: Mapping[int, int], rows: Sequence[Mapping[str, Any]], settings: DesignsSettings
) -> float:
    if n in measured:
        return measured[n]
    first: Fidelity = next(name for name in FIDELITIES if limits_of(settings, name).max_n >= n)
    most = budget_of(settings, first, k)
    work = extrapolate("", rows, n).work
    return most if work is None else min(most, work)
