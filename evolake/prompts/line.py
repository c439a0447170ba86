"""System prompts, evolved next to the weights. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "prompts",
    weight=3,
    assets="assets.prompts",
    profiles="evolake.prompts.profiles",
    settings=Lazy("evolake.prompts.settings:PromptsSettings"),
    commands={"prompts": Lazy("evolake.prompts.commands:prompts")},
    report=Lazy("evolake.prompts.report.page:prompts_section"),
    story=Lazy("evolake.prompts.report.story:story"),
    tables=Lazy("evolake.prompts.tables:TABLES"),
    gates=Lazy("evolake.prompts.gate_specs:GATES"),
    checkers=("evolake.prompts.gates",),
    evidence=Lazy("evolake.prompts.gates:STORED"),
    requirements=Lazy("evolake.prompts.requirements:requirements"),
    after=Lazy("evolake.prompts.requirements:lines_read"),
    artifacts=Lazy("evolake.prompts.report.story:ARTIFACTS"),
    seeds=Lazy("evolake.prompts.evolution.population:SEEDS"),
    bundle=Lazy("evolake.prompts.bundle:BUNDLE"),
    model_calls=Lazy("evolake.prompts.model_calls:model_calls"),
)
