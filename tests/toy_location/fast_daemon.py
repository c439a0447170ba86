"""The real `dagster-daemon`, with what cannot be configured in 1.13 changed: it looks for backfills every
second instead of every thirty; where EVOLAKE_TOY_MINUTE_S says so, a minute of schedules takes that many
seconds."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime

import dagster._daemon.controller as controller
import dagster._scheduler.scheduler as scheduler
from dagster._daemon.cli import main


def fast_minutes(seconds: float, since: float) -> None:
    """The scheduler's clock from now on: it runs on from `since` (seconds since the epoch), a minute in
    `seconds`."""

    def now() -> float:
        return since + (time.time() - since) * 60 / seconds

    scheduler.get_current_timestamp = now
    scheduler.get_current_datetime = lambda: datetime.fromtimestamp(now(), UTC)


if __name__ == "__main__":
    controller.DEFAULT_DAEMON_INTERVAL_SECONDS = 1
    if minute := os.environ.get("EVOLAKE_TOY_MINUTE_S"):
        fast_minutes(float(minute), float(os.environ["EVOLAKE_TOY_SINCE"]))
    sys.exit(main())
