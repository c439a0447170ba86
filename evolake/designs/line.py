"""Designs of 3-SAT solvers and the objectives that judge them. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "designs", weight=2, assets="assets.designs", settings="evolake.designs.settings:DesignsSettings", profiles="evolake.designs.profiles",
    commands={"designs": "evolake.designs.commands.group:designs"}, report="evolake.designs.report.page:designs_section",
    story="evolake.designs.report.story:story",
    tables="evolake.designs.known_tables:known_tables", gates="evolake.designs.known_gates:known_gates",
    evidence="evolake.designs.evolution.stored_evidence:STORED",
    artifacts="evolake.designs.report.artifacts:ARTIFACTS", seeds="evolake.designs.evolution.immigrants:SEEDS",
    bundle="evolake.designs.bundle:BUNDLE",
)
