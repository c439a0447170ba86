"""SAT-solver repositories. What the line contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "solvers", weight=4, assets="assets.solvers", settings="evolake.solvers.settings:SolversSettings", profiles="evolake.solvers.profiles",
    commands={"proof": "evolake.solvers.commands.proof:proof", "solvers": "evolake.solvers.commands.group:solvers"},
    report="evolake.solvers.report.page:solvers_section",
    story="evolake.solvers.report.story:story", tables="evolake.solvers.known_tables:known_tables", gates="evolake.solvers.known_gates:known_gates",
    evidence="evolake.solvers.evolution.stored_evidence:STORED",
    requirements="evolake.solvers.requirements:requirements",
    artifacts="evolake.solvers.report.artifacts:ARTIFACTS", seeds="evolake.solvers.evolution.immigrants:SEEDS",
    bundle="evolake.solvers.bundle:BUNDLE",
)
