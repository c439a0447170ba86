"""What Dagster loads: every line and study under `assets`, under the common policy (resources, executor, jobs, schedules, sensors)."""

from __future__ import annotations

import gc

from pipelines.lines import built_lines, built_studies
from pipelines.policy import define

collecting = gc.isenabled()
gc.disable()  # what is made here lives as long as the process: looking for garbage meanwhile is in vain
try:
    lines = built_lines()
    studies = built_studies()
    defs = define(lines, studies)
finally:
    if collecting:
        gc.enable()
