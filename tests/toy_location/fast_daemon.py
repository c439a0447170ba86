"""The real `dagster-daemon`, with one number changed: it looks for backfills every second instead of every thirty (not configurable in 1.13)."""

from __future__ import annotations

import sys

import dagster._daemon.controller as controller
from dagster._daemon.cli import main

if __name__ == "__main__":
    controller.DEFAULT_DAEMON_INTERVAL_SECONDS = 1
    sys.exit(main())
