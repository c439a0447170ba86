"""The study of what evolved families are worth to a model that trains on them. What the study contributes to
evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "utility",
    assets="assets.utility",
    profiles="evolake.utility.profiles",
    settings=Lazy("evolake.utility.settings:UtilitySettings"),
    findings=Lazy("evolake.utility.report.artifacts:findings"),
    tables=Lazy("evolake.utility.tables:TABLES"),
    artifacts=Lazy("evolake.utility.report.artifacts:ARTIFACTS"),
    stands_on=("families", "prompts"),
)
