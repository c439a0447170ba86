"""A night that did not run shows red: the check `a_cycle_each_night` on `<line>/story`, of the lines whose
schedule EVOLAKE_NIGHTLY_LINES switches on.

It asks the lake when the furthest cycle that the line ever finished was finished first. What is made again
since, be it that cycle or an older one, is not a new cycle, so that a repair hides nothing; a freshness
policy of Dagster would take it for one. The schedule says how far apart nights are: one and a half of the
widest gap is too late. The sensor `nights` reports what changed, without a run. Dagster's daemon looks, so a
daemon that is down shows nothing: that is what `alerts` of the machine itself are for (docs/operations.md).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

import dagster as dg

from assets.line import Line
from evolake.lake import Lake
from evolake.lake.schemas import INCOMING
from pipelines.schedules import TWO_IN_THE_NIGHT, cron_or, time_zone
from resources.dagster_internals import cron_string_iterator
from resources.lake import LakeResource

CHECK = "a_cycle_each_night"
SOME_MONDAY = 1_767_571_200.0
"""From when on gaps are counted, so that the same schedule always gives the same limit."""
TICKS, GAPS = 100, 1.5
INTERVAL_S = 300
FINISHED = f"""
SELECT cycle, min(created_at) FROM parts WHERE line = $line AND starts_with(asset, '{INCOMING}')
GROUP BY cycle ORDER BY cycle DESC LIMIT 1"""


def widest_gap(cron: str) -> timedelta:
    """Return the longest time between two ticks of `cron`."""
    ticks = islice(cron_string_iterator(SOME_MONDAY, cron, time_zone()), TICKS)
    return max((later - earlier for earlier, later in pairwise(ticks)), default=timedelta(days=1))


def judge(lake: Lake, line: Line, now: datetime) -> dg.AssetCheckResult | None:
    """Return whether the newest cycle is recent enough; None of a line that has not begun.

    Raises:
        LakeError: the manifests are damaged.
    """
    from evolake.lake import Catalogue

    with Catalogue(lake) as catalogue:
        rows = catalogue.query(FINISHED, {"line": line.name}).rows
    if not rows:
        return None
    cycle, at = rows[0]
    limit = GAPS * widest_gap(cron_or(TWO_IN_THE_NIGHT))
    late = now - at > limit
    return dg.AssetCheckResult(
        asset_key=line.story.key,
        check_name=CHECK,
        passed=not late,
        severity=dg.AssetCheckSeverity.ERROR,
        description=(
            f"no new cycle since {at:%Y-%m-%d %H:%M} UTC, when the population of cycle {cycle} was sealed: "
            f"see the ticks of {line.name}_nightly"
            if late
            else ""
        ),
        metadata={"newest_population": cycle, "sealed_first": at.isoformat(), "limit": str(limit)},
    )


def night_check(line: Line) -> dg.AssetChecksDefinition:
    """Return the check of one line; to be run by hand, too."""

    @dg.asset_check(
        asset=line.story.key,
        name=CHECK,
        description="Whether the schedule added a cycle lately; what was made again does not count.",
    )
    def check(lake: LakeResource) -> dg.AssetCheckResult:
        result = judge(lake.open(), line, datetime.now(UTC))
        return result or dg.AssetCheckResult(passed=True, description="the line has not begun")

    return check


def nights(lines: Sequence[Line]) -> dg.SensorDefinition:
    """Return the sensor over the checks of `lines`, which is on from the start."""

    @dg.sensor(
        name="nights",
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=INTERVAL_S,
        description="Reports the check a_cycle_each_night of the lines that grow each night. Runs nothing.",
    )
    def look(context: dg.SensorEvaluationContext, lake: LakeResource) -> dg.SkipReason:
        known, said = json.loads(context.cursor or "{}"), {}
        for line in lines:
            result = judge(lake.open(), line, datetime.now(UTC))
            if result is None:
                continue
            said[line.name] = [result.passed, result.metadata["newest_population"].value]
            if known.get(line.name) != said[line.name]:
                context.instance.report_runless_asset_event(
                    dg.AssetCheckEvaluation(
                        asset_key=line.story.key,
                        check_name=CHECK,
                        passed=result.passed,
                        metadata=result.metadata,
                        severity=result.severity,
                        description=result.description,
                    )
                )
        context.update_cursor(json.dumps(said))
        late = ", ".join(name for name, (passed, _) in said.items() if not passed)
        return dg.SkipReason(f"no new cycle of {late}" if late else "every night ran")

    return look
