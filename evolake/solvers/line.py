"""SAT-solver repositories. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "solvers",
    weight=4,
    assets="assets.solvers",
    profiles="evolake.solvers.profiles",
    settings=Lazy("evolake.solvers.settings:SolversSettings"),
    commands={
        "proof": Lazy("evolake.solvers.commands:proof"),
        "solvers": Lazy("evolake.solvers.commands:solvers"),
    },
    report=Lazy("evolake.solvers.report.page:solvers_section"),
    story=Lazy("evolake.solvers.report.story:story"),
    tables=Lazy("evolake.solvers.tables:TABLES"),
    gates=Lazy("evolake.solvers.gates.specs:KNOWN"),
    checkers=("evolake.solvers.rules",),
    evidence=Lazy("evolake.solvers.gates.evidence:STORED"),
    requirements=Lazy("evolake.solvers.repository.build:requirements"),
    artifacts=Lazy("evolake.solvers.report.story:ARTIFACTS"),
    seeds=Lazy("evolake.solvers.evolution.entering_seeds:SEEDS"),
    bundle=Lazy("evolake.solvers.bundle:BUNDLE"),
    model_calls=Lazy("evolake.solvers.model_calls:model_calls"),
)
