"""Verifiable task families. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "families",
    weight=2,
    assets="assets.families",
    profiles="evolake.families.profiles",
    settings=Lazy("evolake.families.settings:FamiliesSettings"),
    commands={"families": Lazy("evolake.families.commands.group:families")},
    report=Lazy("evolake.families.report.page:families_section"),
    story=Lazy("evolake.families.report.story:story"),
    tables=Lazy("evolake.families.tables_faults:TABLES"),
    gates=Lazy("evolake.families.gates.specs:GATES"),
    checkers=("evolake.families.gates.checkers",),
    evidence=Lazy("evolake.families.evolution.records:STORED"),
    artifacts=Lazy("evolake.families.report.story:ARTIFACTS"),
    seeds=Lazy("evolake.families.evolution.shipped_seeds:SEEDS"),
    bundle=Lazy("evolake.families.bundle:BUNDLE"),
    model_calls=Lazy("evolake.families.model_calls:model_calls"),
)
