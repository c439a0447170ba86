"""Designs of 3-SAT solvers and the objectives that judge them. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "designs",
    weight=2,
    assets="assets.designs",
    profiles="evolake.designs.profiles",
    settings=Lazy("evolake.designs.settings:DesignsSettings"),
    commands={"designs": Lazy("evolake.designs.commands:designs")},
    report=Lazy("evolake.designs.report.page:designs_section"),
    story=Lazy("evolake.designs.report.story:story"),
    tables=Lazy("evolake.designs.tables:TABLES"),
    gates=Lazy("evolake.designs.evolution.gate_specs:KNOWN"),
    checkers=("evolake.designs.evolution.judging_objectives",),
    evidence=Lazy("evolake.designs.evolution.judging:STORED"),
    artifacts=Lazy("evolake.designs.report.story:ARTIFACTS"),
    seeds=Lazy("evolake.designs.evolution.population:SEEDS"),
    bundle=Lazy("evolake.designs.bundle:BUNDLE"),
    model_calls=Lazy("evolake.designs.model_calls:model_calls"),
)
