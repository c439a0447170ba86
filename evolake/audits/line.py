"""Audits of evaluators, gains and finished runs, as rows of a lake. What the study contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "audits",
    assets="assets.audits",
    commands={"audit": Lazy("evolake.audits.commands:audit")},
    bundle=Lazy("evolake.audits.bundle:BUNDLE"),
    findings=Lazy("evolake.audits.rows:sentences"),
    artifacts=Lazy("evolake.audits.rows:ARTIFACTS"),
    tables=Lazy("evolake.audits.tables:TABLES"),
    stands_on=("programs",),
)
