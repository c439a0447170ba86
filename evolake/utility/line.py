"""The study of what evolved families are worth to a model that trains on them. What the study contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "utility", assets="assets.utility", settings="evolake.utility.settings:UtilitySettings", profiles="evolake.utility.profiles",
    findings="evolake.utility.report.narrative:findings", tables="evolake.utility.known_tables:known_tables",
    artifacts="evolake.utility.report.artifacts:ARTIFACTS", stands_on=("families", "prompts"),
)
