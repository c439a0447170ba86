"""The sensors of lines: a cycle starts when its population is sealed (`continuous`), runs are marked as
failed whose process was killed (`dead_runs`), and edits of rule files are noted (`rules_watch`).

`continuous` is stopped by default, and while it runs a line never rests: every cycle asset carries
`AutomationCondition.eager()`, so each cycle's seal starts the next one. Checks ride along, so nothing passes
ungated. Dagster acts on what changes *after* a sensor is switched on, so materialize the next cycle once to
set it going.

`dead_runs` looks every half minute, so that no pool stays taken and no queue waits for such runs.

`rules_watch` changes nothing. What is stale after an edit follows from the code versions of the loaded
definitions, so the sensor also tells when rule files are newer than what is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import dagster as dg

from assets.line import Line
from assets.package import SUFFIX_DIGITS
from assets.rules import observation
from assets.study import Study
from evolake.errors import InputError
from pipelines.burial import bury_dead_runs, sweep
from resources.lake import LakeResource

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


def dead_runs(lines: Sequence[Line | Study]) -> dg.SensorDefinition:
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


def rules_watch(lines: Sequence[Line]) -> dg.SensorDefinition:
    """Return the sensor over the rules of `lines`, which is on from the start. A bad rule file makes its tick
    red."""
    loaded = {line: line.rules_version(None) for line in lines}

    @dg.sensor(
        name="rules_watch",
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=INTERVAL_S,
        description=(
            "Records which rules are in force, and reports when rule files are newer than the loaded "
            "definitions. Runs nothing."
        ),
    )
    def look(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        noted = json.loads(context.cursor or "{}")
        now = {line: line.rules_hash() for line in lines if loaded[line] or _is_readable(line)}
        for line, version in now.items():
            if noted.get(line.name) != version:
                context.instance.report_runless_asset_event(observation(line))
        context.update_cursor(json.dumps({line.name: version for line, version in now.items()}))
        if edited := [
            line.name for line, version in now.items() if loaded[line] != f"+{version[:SUFFIX_DIGITS]}"
        ]:
            return dg.SkipReason(
                f"rules of {', '.join(edited)} were edited after the definitions were loaded: choose "
                "Reload definitions (or restart the code server) "
                "to see what is stale"
            )
        return dg.SkipReason("the loaded definitions have the rules of the files")

    return look


def _is_readable(line: Line) -> bool:
    """Return whether rules that could not be read at loading can be read now; a line without rule files is no
    error of this sensor."""
    try:
        line.rules_hash()
    except InputError:
        return False
    return True
