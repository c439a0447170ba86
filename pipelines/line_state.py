"""Where a line stands, and which of its runs are still running: what `evolake run` and the nightly schedule
both ask."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from assets.cycle import opened_version
from assets.line import FIRST_CYCLE, LINE_TAG, Line
from assets.study import Study
from evolake.lake import Lake, following
from resources.lake import LAKE_TAG, is_of_another

PARTITION_TAG, CODE_VERSION_TAG = "dagster/partition", "dagster/code_version"
CONTINUES_TAG = "evolake/continues"
"""Tag of a run that only closes a cycle: the run that did the rest of it."""
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


def lacks_its_seal(
    instance: dg.DagsterInstance,
    definitions: dg.Definitions,
    lake: Lake,
    line: Line,
    cycle: str,
    sizes: Mapping[str, str],
) -> str | None:
    """Return the run that did all of a cycle but its closing asset, so that this is what is left; else None.

    It is the newest run of the cycle (or the one that the newest continued), of the same sizes; its assets
    are what the definitions would make now, and the population that it was opened on is the one that enters.
    """
    of_cycle = dg.RunsFilter(tags={PARTITION_TAG: cycle, LAKE_TAG: lake.id})
    run = next((run for run in instance.get_runs(of_cycle) if belongs(run, line)), None)
    if run is None or run.is_success or not run.is_finished:
        return None
    if CONTINUES_TAG in run.tags and _refused(instance, run):
        return None  # its checks, say, have to be done again
    while run is not None and CONTINUES_TAG in run.tags:
        run = instance.get_run_by_id(run.tags[CONTINUES_TAG])
    seal = lake.seals.read(line.name, cycle)
    if (
        run is None
        or run.job_name != line.job_name
        or seal is None
        or seal.version != opened_version(lake, line, cycle)
        or any(run.tags.get(name) != value for name, value in sizes.items())
    ):
        return None
    done = {
        step.step_key
        for step in instance.get_run_step_stats(run.run_id)
        if step.status and step.status.value == "SUCCESS"
    }
    closing = line.key(line.closing).to_python_identifier()
    steps = {node.name for node in definitions.resolve_job_def(line.job_name).nodes}
    left = {name for name in steps - done if name != closing and not name.startswith(f"{closing}_")}
    return None if left or closing in done or _changed(instance, definitions, run) else run.run_id


def _refused(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Return whether an asset of the run failed for a reason that it gave."""
    failures = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    events = [entry.dagster_event for entry in failures]
    return any(event is not None and event.step_failure_data.user_failure_data for event in events)


def _changed(instance: dg.DagsterInstance, definitions: dg.Definitions, run: dg.DagsterRun) -> bool:
    """Return whether an asset that the run made has another code version by now, as after an edit of a
    rule."""
    graph = definitions.resolve_asset_graph()
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
        made = entry.asset_materialization
        if made is not None and graph.has(made.asset_key) and graph.get(made.asset_key).is_executable:
            now = graph.get(made.asset_key).code_version
            if now is not None and (made.tags or {}).get(CODE_VERSION_TAG) != now:
                return True
    return False


def runs_at_work(instance: dg.DagsterInstance, lake: Lake, line: Line) -> list[dg.DagsterRun]:
    """Return runs of the lake's line that have not ended: queued, starting or started; by its job, a backfill
    or the UI's "Materialize"."""
    runs = instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))
    return [run for run in runs if belongs(run, line) and not is_of_another(run, lake)]


def belongs(run: dg.DagsterRun, line: Line | Study) -> bool:
    """Return whether a run is one of the line or study: by its tag, its job or the assets it was asked
    for."""
    jobs = (line.job_name, line.seeds_job_name if isinstance(line, Line) else line.setup_group)
    if run.tags.get(LINE_TAG) == line.name or run.job_name in jobs:
        return True
    return any(key.path[0] == line.name for key in run.asset_selection or ())
