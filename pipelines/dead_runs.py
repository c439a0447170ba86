"""The sensor `dead_runs`: every half minute it marks runs as failed whose process was killed, so that no pool
stays taken and no queue waits for them.

Like the sensors of `cycles` and `rules_watch`, it is on from the start.
"""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

from assets.line import Line
from pipelines.burial import bury_dead_runs, sweep
from resources.lake import LakeResource

INTERVAL_S = 30


def dead_runs(lines: Sequence[Line]) -> dg.SensorDefinition:
    """Return the sensor; runs made in process are looked at for these lines."""

    @dg.sensor(
        name="dead_runs",
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=INTERVAL_S,
        description=(
            "Marks runs as failed whose process was killed, whatever became of the code server, so that "
            "their slot in the pool is free."
        ),
    )
    def look(context: dg.SensorEvaluationContext, lake: LakeResource) -> dg.SkipReason:
        store = lake.open()
        buried = bury_dead_runs(context.instance, store, lines, others=True)
        sweep(context.instance, store)
        return dg.SkipReason(
            f"buried: {', '.join(buried)}"
            if buried
            else "every run that has not ended lives, or is just starting"
        )

    return look
