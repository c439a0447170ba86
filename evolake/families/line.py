"""Verifiable task families. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "families", weight=2, assets="assets.families", settings="evolake.families.settings:FamiliesSettings", profiles="evolake.families.profiles",
    commands={"families": "evolake.families.commands.group:families"}, report="evolake.families.report.page:families_section",
    story="evolake.families.report.story:story",
    tables="evolake.families.known_tables:known_tables", gates="evolake.families.known_gates:known_gates",
    evidence="evolake.families.evolution.stored_evidence:STORED",
    artifacts="evolake.families.report.artifacts:ARTIFACTS", seeds="evolake.families.evolution.immigrants:SEEDS",
    bundle="evolake.families.bundle:BUNDLE",
)
