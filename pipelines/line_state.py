"""Where a line stands, and which of its runs are still running: what `evolake run` and the nightly schedule
both ask."""

from __future__ import annotations

import dagster as dg

from assets.line import FIRST_CYCLE, LINE_TAG, Line
from evolake.lake import Lake, following
from resources.lake import is_of_another

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def next_cycle(lake: Lake, line: Line) -> str | None:
    """Return the cycle that is to run next: the first whose successor is not sealed on what came before it.
    None: the seeds are not sealed yet."""
    cycle = FIRST_CYCLE
    if lake.seals.broken_link(line.name, cycle):
        return None
    while not lake.seals.broken_link(line.name, following(cycle)):
        cycle = following(cycle)
    return cycle


def runs_at_work(instance: dg.DagsterInstance, lake: Lake, line: Line) -> list[dg.DagsterRun]:
    """Return runs of the lake's line that have not ended: queued, starting or started; by its job, a backfill
    or the UI's "Materialize"."""
    runs = instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))
    return [run for run in runs if belongs(run, line) and not is_of_another(run, lake)]


def belongs(run: dg.DagsterRun, line: Line) -> bool:
    """Return whether a run is one of the line: by its tag, its job or the assets it was asked for."""
    if run.tags.get(LINE_TAG) == line.name or run.job_name in (line.job_name, line.seeds_job_name):
        return True
    return any(key.path[0] == line.name for key in run.asset_selection or ())
