"""Programs of the user's own. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "programs",
    weight=1,
    assets="assets.programs",
    profiles="evolake.programs.profiles",
    settings=Lazy("evolake.programs.settings:ProgramsSettings"),
    commands={"programs": Lazy("evolake.programs.commands.group:programs")},
    report=Lazy("evolake.programs.report.page:programs_section"),
    story=Lazy("evolake.programs.report.story:story"),
    tables=Lazy("evolake.programs.tables:TABLES"),
    gates=Lazy("evolake.programs.gate_specs:GATES"),
    checkers=("evolake.programs.gates",),
    cookbook="evolake.programs.cookbook",
    artifacts=Lazy("evolake.programs.report.story:ARTIFACTS"),
    seeds=Lazy("evolake.programs.evolution.added_seeds:SEEDS"),
    bundle=Lazy("evolake.programs.bundle:BUNDLE"),
    model_calls=Lazy("evolake.programs.model_calls:model_calls"),
)
