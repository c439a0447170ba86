"""How fast a cycle searches: candidates an hour, and the share of the processors' time that went into
simulating designs.

Both are of the run that makes the cycle, from its own event log. What is not simulation is everything else
that an hour holds: tracing in jails, compiling kernels, scoring, models that are waited for, Dagster's own
steps. A run that makes a part of a cycle has no pace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dagster as dg

from assets.designs.line import line
from assets.line import SAID_OF_CYCLE
from assets.store import LineStore

OPENS = "directions"
SIMULATING = ("candidates", "experiments", "promoted_experiments", "tuning")
"""Assets whose metadata `cpu_s` is processor time that simulations took."""


@dataclass(frozen=True)
class Pace:
    """Candidates that were proposed or raced, seconds from the opening of the cycle to its close, processor
    seconds of simulating, and workers."""

    candidates: int
    wall_s: float
    simulating_cpu_s: float
    workers: int

    @property
    def candidates_an_hour(self) -> float:
        """Return the candidates per hour of wall time."""
        return 3600 * self.candidates / self.wall_s

    @property
    def simulating_share(self) -> float:
        """Of all that the workers could have done, 0 to 1."""
        return self.simulating_cpu_s / (self.wall_s * self.workers)

    def metadata(self) -> dict[str, float | str]:
        """Return the figures as metadata of an asset: numbers and a sentence."""
        numbers = {
            "candidates_an_hour": round(self.candidates_an_hour, 1),
            "simulating_share": round(self.simulating_share, 3),
        }
        return numbers | {SAID_OF_CYCLE: str(self)}

    def __str__(self) -> str:
        return (
            f"{self.candidates} candidates in {self.wall_s:.0f} s, {self.candidates_an_hour:.0f} an hour; "
            f"{self.simulating_share:.0%} of the time of {self.workers} workers was simulation"
        )


def pace_of(store: LineStore, candidates: int, closing_cpu_s: float, now: float, workers: int) -> Pace | None:
    """Return the pace of the cycle that `store`'s asset closes at `now` (seconds since 1970); None where
    another run made a part of it.

    `closing_cpu_s` is what the closing asset itself simulated. Time between the opening and the close in
    which other lines of the run worked counts too: the machine was theirs as well.
    """
    instance, run_id = store.context.instance, store.run_id
    made: dict[str, float] = {}
    opening: str | None = None
    for record in instance.get_records_for_run(
        run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION
    ).records:
        result = record.asset_materialization
        if result is not None and result.asset_key.path[0] == line.name and result.partition == store.cycle:
            made[result.asset_key.path[-1]] = _number(result.metadata.get("cpu_s"))
            if result.asset_key.path[-1] == OPENS:
                opening = record.event_log_entry.step_key
    if opening is None or not made.keys() >= set(SIMULATING):
        return None
    began = next(
        (stat.start_time for stat in instance.get_run_step_stats(run_id, [opening]) if stat.start_time), None
    )
    if began is None or now <= began:
        return None
    return Pace(candidates, now - began, closing_cpu_s + sum(made[name] for name in SIMULATING), workers)


def _number(value: Any) -> float:
    return float(getattr(value, "value", None) or 0.0)
