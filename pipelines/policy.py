"""Policy, applied once over all lines and studies: one set of resources, one executor, and jobs; a line has a
nightly schedule and a continuous sensor too; four sensors over all of them mark dead runs, watch rule files,
register cycles and tell of failed runs.

Kept apart from `definitions`, which says *which* there are, so that tests put toy lines and toy studies under
the very same policy.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from pipelines.alerts import alerts
from pipelines.cycles import cycles_sensor, registering
from pipelines.dead_runs import dead_runs
from pipelines.executor import living_executor
from pipelines.freshness import kept_fresh, refuse_unknown
from pipelines.jobs import cycle_job, seeds_job, study_jobs
from pipelines.lines import BuiltLine, BuiltStudy
from pipelines.rules_job import preview_rules
from pipelines.rules_watch import rules_watch
from pipelines.runlog import evolve_log
from pipelines.schedules import nightly
from pipelines.sensors import continuous
from pipelines.upkeep import lake_nightly, verify_lake
from resources.by_name import resources_by_name


def define(lines: Sequence[BuiltLine], studies: Sequence[BuiltStudy] = ()) -> dg.Definitions:
    """Return the definitions of `lines` and `studies`. Raises InputError where EVOLAKE_NIGHTLY_LINES names
    what is no line."""
    refuse_unknown(lines)
    known = [built.line for built in lines]
    of_lines = [
        asset for built in lines for asset in (built.line.incoming, *kept_fresh(built), built.line.story)
    ]
    jobs_of_lines = [job(built.line) for built in lines for job in (seeds_job, cycle_job)]
    return dg.Definitions(
        assets=[*of_lines, *(asset for built in studies for asset in built.assets)],
        asset_checks=[check for built in (*lines, *studies) for check in built.checks],
        jobs=[
            registering(known),
            verify_lake,
            *([preview_rules] if lines else []),
            *jobs_of_lines,
            *(job for built in studies for job in study_jobs(built.study)),
        ],
        schedules=[*(nightly(built.line) for built in lines), *([lake_nightly] if lines else [])],
        sensors=[
            *(continuous(built.line) for built in lines),
            dead_runs(known),
            rules_watch(known),
            cycles_sensor(known),
            alerts(),
        ],
        resources=resources_by_name(),
        executor=living_executor,
        loggers={"evolve": evolve_log},
    )
