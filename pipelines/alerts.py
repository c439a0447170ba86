"""The sensor `alerts`: the receiver in the settings gets a message on each run that failed, with the reason
and what repairs it.

It is on from the start where EVOLAKE_ALERT_COMMAND or EVOLAKE_ALERT_WEBHOOK is set as the definitions are
loaded. An alert that was not delivered makes the tick red.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import dagster as dg

from assets.line import LINE_TAG
from evolake import settings as settings_module
from evolake.alerts import alert, alerting
from pipelines.line_state import PARTITION_TAG
from pipelines.outcome import blame, was_interrupted

INTERVAL_S = 30
ENDINGS = (
    "unexpectedly exited",
    "exceeded maximum runtime",
    "timed out",
    "marked as failed",
    "terminat",
    "Run timed out",
)
"""Words of Dagster's own records of a run's end: its process ended, a timeout, a person."""
SAYS_NOTHING = ("This run has been marked as failed from outside the execution context.", "the run failed")
VARIABLES = ("EVOLAKE_ALERT_COMMAND", "EVOLAKE_ALERT_WEBHOOK")


def alerts() -> dg.SensorDefinition:
    """Return the sensor."""
    set_here = any(os.environ.get(name) for name in VARIABLES)
    on = dg.DefaultSensorStatus.RUNNING if set_here else dg.DefaultSensorStatus.STOPPED

    @dg.run_failure_sensor(
        name="alerts",
        default_status=on,
        minimum_interval_seconds=INTERVAL_S,
        monitor_all_code_locations=False,
        description="Sends every failed run to EVOLAKE_ALERT_COMMAND and EVOLAKE_ALERT_WEBHOOK, as JSON.",
    )
    def tell(context: dg.RunFailureSensorContext) -> dg.SkipReason | None:
        settings = settings_module.load()
        if not alerting(settings):
            return dg.SkipReason(
                "no receiver is set: set EVOLAKE_ALERT_COMMAND or EVOLAKE_ALERT_WEBHOOK, and reload"
            )
        alert(settings, about(context))
        return None

    return tell


def about(context: dg.RunFailureSensorContext) -> dict[str, str]:
    """Return what is reported about a failed run. `mend` says what to do next."""
    run = context.dagster_run
    line, cycle = run.tags.get(LINE_TAG, ""), run.tags.get(PARTITION_TAG, "")
    what = f"{line or run.job_name}{f' cycle {cycle}' if cycle else ''}"
    reason = _reason(context)
    mend = (
        "the next night runs the cycle again; `evolake status` shows the state of the line"
        if cycle
        else "see the run's log"
    )
    return {
        "event": "run_failed",
        "run_id": run.run_id,
        "job": run.job_name,
        "line": line,
        "cycle": cycle,
        "reason": reason,
        "mend": mend,
        "text": f"evolake: {what} failed: {reason} (run {run.run_id}); {mend}",
    }


def _reason(context: dg.RunFailureSensorContext) -> str:
    """Return what the first failed step said, else who or what ended the run."""
    failed = [event for event in context.get_step_failure_events() if not was_interrupted(event)]
    if failed:
        return blame(failed[0])[1]
    texts = [text for text in _said_of_the_end(context) if text]
    return (
        "; ".join(dict.fromkeys(texts))
        or "no reason is recorded: the run was marked as failed from outside, by a person or a program"
    )


def _said_of_the_end(context: dg.RunFailureSensorContext) -> Iterator[str]:
    """Yield what Dagster and `pipelines.burial` recorded of a run that ended without a failed step, most
    telling first."""
    end = context.failure_event
    data = end.event_specific_data
    error = getattr(data, "error", None)
    yield (error.message.strip() if error is not None else "")
    records = context.instance.all_logs(context.dagster_run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
    for entry in reversed(records):
        text = (entry.dagster_event.message if entry.dagster_event else None) or entry.user_message or ""
        if (
            entry.dagster_event is not None and entry.dagster_event.engine_event_data.error is not None
        ) or any(word in text for word in ENDINGS):
            yield text.strip()
            break
    message = (end.message or "").strip()
    yield message if message and message not in SAYS_NOTHING else ""
