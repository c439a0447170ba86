"""Policy, applied once over all lines and studies: one set of resources, one executor, and jobs; a line has a
nightly schedule and a continuous sensor too; sensors over all of them mark dead runs, watch rule files,
register cycles, tell of failed runs and of nights that did not run.

Kept apart from `definitions`, which says *which* there are, so that tests put toy lines and toy studies under
the very same policy.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import dagster as dg

from evolake.errors import InputError
from pipelines.alerts import alerts
from pipelines.cycles import cycles_sensor, registering
from pipelines.executor import living_executor
from pipelines.jobs import cycle_job, seeds_job, study_jobs
from pipelines.lines import BuiltLine, BuiltStudy
from pipelines.nights import night_check, nights
from pipelines.rules_job import apply_rules, preview_rules
from pipelines.runlog import evolve_log
from pipelines.schedules import LINES_VARIABLE, nightly, works_nightly
from pipelines.sensors import continuous, dead_runs, rules_watch
from pipelines.upkeep import lake_nightly, verify_lake
from resources.by_name import resources_by_name


def refuse_unknown(lines: Sequence[BuiltLine]) -> None:
    """Raise InputError where EVOLAKE_NIGHTLY_LINES names what is no line."""
    known = [built.line.name for built in lines]
    for name in filter(None, (part.strip() for part in os.environ.get(LINES_VARIABLE, "").split(","))):
        if name not in (*known, "all"):
            raise InputError(
                f"{LINES_VARIABLE} names no line: {name!r}",
                wanted=f"all, or some of: {', '.join(known)}",
                do="fix the variable",
            )


def define(lines: Sequence[BuiltLine], studies: Sequence[BuiltStudy] = ()) -> dg.Definitions:
    """Return the definitions of `lines` and `studies`. Raises InputError where EVOLAKE_NIGHTLY_LINES names
    what is no line."""
    refuse_unknown(lines)
    known = [built.line for built in lines]
    of_nights = [line for line in known if works_nightly(line.name)]
    of_lines = [asset for built in lines for asset in (built.line.incoming, *built.assets, built.line.story)]
    jobs_of_lines = [job(built.line) for built in lines for job in (seeds_job, cycle_job)]
    return dg.Definitions(
        assets=[*of_lines, *(asset for built in studies for asset in built.assets)],
        asset_checks=[
            *(check for built in (*lines, *studies) for check in built.checks),
            *map(night_check, of_nights),
        ],
        jobs=[
            registering(known),
            verify_lake,
            *([preview_rules, apply_rules] if lines else []),
            *jobs_of_lines,
            *(job for built in studies for job in study_jobs(built.study)),
        ],
        schedules=[*(nightly(built.line) for built in lines), *([lake_nightly] if lines else [])],
        sensors=[
            *(continuous(built.line) for built in lines),
            dead_runs([*known, *(built.study for built in studies)]),
            rules_watch(known),
            cycles_sensor(known, [built.study for built in studies]),
            alerts(),
            *([nights(of_nights)] if of_nights else []),
        ],
        resources=resources_by_name(),
        executor=living_executor,
        loggers={"evolve": evolve_log},
    )
