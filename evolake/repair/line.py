"""The study of solver-grounded repair. What the study contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "repair", assets="assets.repair", settings="evolake.repair.settings:RepairSettings", profiles="evolake.repair.profiles",
    commands={"repair": "evolake.repair.commands.group:repair"},
    findings="evolake.repair.report.narrative:findings", tables="evolake.repair.known_tables:known_tables",
    requirements="evolake.repair.requirements:requirements", artifacts="evolake.repair.report.artifacts:ARTIFACTS",
)
