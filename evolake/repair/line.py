"""The study of solver-grounded repair. What the study contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "repair",
    assets="assets.repair",
    profiles="evolake.repair.profiles",
    settings=Lazy("evolake.repair.settings:RepairSettings"),
    commands={"repair": Lazy("evolake.repair.commands:repair")},
    findings=Lazy("evolake.repair.report.artifacts:findings"),
    tables=Lazy("evolake.repair.tables:TABLES"),
    requirements=Lazy("evolake.repair.requirements:requirements"),
    artifacts=Lazy("evolake.repair.report.artifacts:ARTIFACTS"),
    model_calls=Lazy("evolake.repair.model_calls:model_calls"),
)
