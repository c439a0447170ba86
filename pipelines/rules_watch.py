"""The sensor `rules_watch`: notes in Dagster which rules are in force, when the definitions have been loaded
and after each edit.

It changes nothing else. What is stale after an edit follows from the code versions of the loaded definitions,
so the sensor also tells when rule files are newer than what is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import dagster as dg

from assets.line import Line
from assets.package import SUFFIX_DIGITS
from assets.rules import observation
from evolake.errors import InputError

INTERVAL_S = 30


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
