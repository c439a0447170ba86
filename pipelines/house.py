"""Policy, applied once over all lines: one set of resources, one executor, and for every line its jobs, its nightly schedule, its continuous sensor.

Kept apart from `definitions`, which says *which* lines there are, so that tests put toy lines under the very same policy.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from pipelines.cycles import register_cycles
from pipelines.jobs import cycle_job, seeds_job
from pipelines.lines import BuiltLine
from pipelines.runlog import evolve_log
from pipelines.schedules import nightly
from pipelines.sensors import continuous
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeIOManager, LakeResource


def resources() -> dict[str, object]:
    """What assets may ask for by name. Everything opens on first use."""
    lake = LakeResource()
    return {
        "lake": lake,
        "io_manager": LakeIOManager(lake=lake),
        "agents": AgentsResource(),
        "jail": JailResource(),
        "compute": ComputeResource(),
    }


def define(lines: Sequence[BuiltLine]) -> dg.Definitions:
    """The definitions of `lines`."""
    return dg.Definitions(
        assets=[asset for built in lines for asset in (built.line.incoming, *built.assets)],
        asset_checks=[check for built in lines for check in built.checks],
        jobs=[register_cycles, *(job(built.line) for built in lines for job in (seeds_job, cycle_job))],
        schedules=[nightly(built.line) for built in lines],
        sensors=[continuous(built.line) for built in lines],
        resources=resources(),
        executor=dg.in_process_executor,
        loggers={"evolve": evolve_log},
    )
