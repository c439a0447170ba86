"""Tunings of solvers, as rows of a lake. What the study contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "tunings",
    assets="assets.tunings",
    findings=Lazy("evolake.solvers.tuning.rows:sentences"),
    artifacts=Lazy("evolake.solvers.tuning.rows:ARTIFACTS"),
    tables=Lazy("evolake.solvers.tuning.tables:TABLES"),
    stands_on=("solvers",),
)
