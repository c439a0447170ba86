"""What Dagster loads: every line that is built under `assets`, under the policy of the house (resources, executor, jobs, schedules, sensors)."""

from __future__ import annotations

from pipelines.house import define
from pipelines.lines import built_lines

lines = built_lines()
defs = define(lines)
