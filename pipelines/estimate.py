"""How long a line still needs, by what Dagster recorded of its last run of the same kind, profile and sizes;
None if there was no such run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping

import dagster as dg

from evolake.settings import Settings

PROFILE_TAG = "evolake/profile"
SIZES_TAG = "evolake/sizes"


def size_tags(settings: Settings, line: str) -> dict[str, str]:
    """Return what a run is tagged with, so that times are compared of runs of one size: the profile, and a
    hash of what may override it for the line."""
    section = getattr(settings, line, None)
    own = {
        "line": section.model_dump(mode="json") if section is not None else None,
        "backend": settings.backend,
        "models": settings.models,
    }
    own |= {"workers": settings.workers, "compute": settings.compute}
    digest = hashlib.sha256(json.dumps(own, sort_keys=True, default=str).encode()).hexdigest()
    return {PROFILE_TAG: settings.profile, SIZES_TAG: digest[:16]}


def step_seconds(instance: dg.DagsterInstance, job: str, tags: Mapping[str, str]) -> dict[str, float]:
    """Return step -> seconds, of the newest run of a job that succeeded with these tags; empty if there is
    none."""
    wanted = dg.RunsFilter(job_name=job, statuses=[dg.DagsterRunStatus.SUCCESS], tags=dict(tags))
    runs = instance.get_runs(wanted, limit=1)
    steps = instance.get_run_step_stats(runs[0].run_id) if runs else []
    return {
        step.step_key: step.end_time - step.start_time
        for step in steps
        if step.start_time is not None and step.end_time is not None
    }


def seconds_left(
    of_run: dict[str, float], done: Collection[str], of_cycle: dict[str, float], cycles_after: int
) -> float | None:
    """Return what is left of a run running and of the cycles after it; None where either is unknown.

    Args:
        of_run: step -> seconds of a run such as the one running. done: its steps that have ended. of_cycle:
            of a cycle.
    """
    if not of_run or (cycles_after and not of_cycle):
        return None
    return sum(seconds for step, seconds in of_run.items() if step not in done) + cycles_after * sum(
        of_cycle.values()
    )


def in_words(seconds: float | None) -> str:
    """Return it as on the screen: `about 2 min left`, `about 40 s left`, `estimating`."""
    if seconds is None:
        return "estimating the time left"
    if seconds >= 90:
        return f"about {round(seconds / 60)} min left"
    return f"about {max(10 * round(seconds / 10), 10)} s left" if seconds > 5 else "a few seconds left"
