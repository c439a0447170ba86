"""Continuous mode: a cycle starts when the population that enters it has been sealed, for as long as the
sensor runs.

Every cycle asset carries `AutomationCondition.eager()`; this sensor is what looks at it. It is stopped by
default, and while it runs a line never rests: each cycle's seal starts the next one. Checks ride along, so
nothing passes ungated. Dagster acts on what changes *after* a sensor is switched on, so materialize the next
cycle once to set it going.
"""

from __future__ import annotations

import dagster as dg

from assets.line import Line

INTERVAL_S = 30


def continuous(line: Line) -> dg.AutomationConditionSensorDefinition:
    """Return the sensor `<line>_continuous`, stopped until a user starts it."""
    return dg.AutomationConditionSensorDefinition(
        f"{line.name}_continuous",
        target=dg.AssetSelection.groups(line.name),
        default_status=dg.DefaultSensorStatus.STOPPED,
        minimum_interval_seconds=INTERVAL_S,
        run_tags={"evolake/started_by": "continuous", "evolake/line": line.name},
        description=(
            f"Continuous mode of {line.name}: each sealed population starts the next cycle. Switch it on, "
            "then materialize one cycle."
        ),
    )
