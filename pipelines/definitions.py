"""What Dagster loads: every line and study under `assets`, under the common policy (resources, executor,
jobs, schedules, sensors)."""

from __future__ import annotations

import atexit
import gc

collecting = gc.isenabled()
gc.disable()  # modules and definitions live as long as the process: looking for garbage while they are made is in vain  # noqa: E501
try:
    from pipelines.lines import built_lines, built_studies
    from pipelines.policy import define

    lines = built_lines()
    studies = built_studies()
    defs = define(lines, studies)
    gc.freeze()  # nor in any later search, but for the last one
    atexit.register(gc.unfreeze)
finally:
    if collecting:
        gc.enable()
