"""Programs of the user's own. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "programs", weight=1, assets="assets.programs", settings="evolake.programs.settings:ProgramsSettings", profiles="evolake.programs.profiles",
    commands={"programs": "evolake.programs.commands.group:programs"}, report="evolake.programs.report.page:programs_section",
    story="evolake.programs.report.story:story", tables="evolake.programs.known_tables:known_tables",
    gates="evolake.programs.known_gates:known_gates", artifacts="evolake.programs.report.artifacts:ARTIFACTS",
    seeds="evolake.programs.evolution.immigrants:SEEDS",
    cookbook="evolake.programs.cookbook", bundle="evolake.programs.bundle:BUNDLE",
)
