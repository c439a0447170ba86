"""What Dagster loads: every line and study under `assets`, under the common policy (resources, executor,
jobs, schedules, sensors)."""

from __future__ import annotations

from assets.rules import note_loaded
from pipelines.lines import built_lines, built_studies
from pipelines.policy import define

lines = built_lines()
studies = built_studies()
defs = define(lines, studies)
note_loaded([built.line for built in lines])
