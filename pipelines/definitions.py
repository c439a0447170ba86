"""What Dagster loads: every line and study under `assets`, under the common policy (resources, executor,
jobs, schedules, sensors)."""

from __future__ import annotations

import gc
import sys

from assets.rules import note_loaded
from pipelines.lines import built_lines, built_studies
from pipelines.policy import define

lines = built_lines()
studies = built_studies()
defs = define(lines, studies)
note_loaded([built.line for built in lines])

# What was loaded lives as long as the process. The collector need not look at it again, least of all at
# exit, which took a third of a second in each process of a run. DuckDB prints a list of its types at
# exit if these were loaded by then, so that they are frozen too.
if "duckdb" not in sys.modules:
    gc.freeze()
