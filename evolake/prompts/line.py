"""System prompts, evolved beside the weights. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "prompts", weight=3, assets="assets.prompts", settings="evolake.prompts.settings:PromptsSettings", profiles="evolake.prompts.profiles",
    commands={"prompts": "evolake.prompts.commands.group:prompts"}, report="evolake.prompts.report.page:prompts_section",
    story="evolake.prompts.report.story:story",
    requirements="evolake.prompts.requirements:requirements",
    tables="evolake.prompts.known_tables:known_tables", gates="evolake.prompts.known_gates:known_gates",
    evidence="evolake.prompts.evolution.stored_evidence:STORED",
    after="evolake.prompts.requirements:lines_read", artifacts="evolake.prompts.report.artifacts:ARTIFACTS",
    seeds="evolake.prompts.evolution.immigrants:SEEDS",
    bundle="evolake.prompts.bundle:BUNDLE",
)
