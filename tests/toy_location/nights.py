"""A code location of a toy line that works each night, and one for backfills, with little patience for runs
that never came to their lock."""

from __future__ import annotations

from toy_location.lines import toy_line

from pipelines import burial
from pipelines.policy import define

burial.PATIENCE_S = 60.0
lines = [toy_line("nightly"), toy_line("gated", checked=True)]
defs = define(lines)
