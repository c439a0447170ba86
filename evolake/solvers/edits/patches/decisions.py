"""Decisions and backtracking: random bursts, and chronological backtracking by relative distance (Nadel and
Ryvchin, SAT 2018)."""

from __future__ import annotations

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite
from evolake.solvers.edits.patches.common import SOURCE

BURST = PatchSpec(
    "decision-random-burst",
    "decision-random",
    "A few random decisions at the top of every so many restarts lead the search into parts of the space "
    "that scores alone avoid.",
    {"every": Parameter(5, 500, 50, whole=True), "depth": Parameter(1, 30, 5, whole=True)},
    {
        family: (
            Rewrite(
                SOURCE,
                "drand(random_seed) < random_var_freq",
                "(drand(random_seed) < random_var_freq || (starts % @every@ == @every@ - 1 && "
                "decisionLevel() < @depth@))",
            ),
        )
        for family in ("minisat", "glucose")
    },
)

CHRONO = PatchSpec(
    "chrono-relative",
    "backtrack",
    "Keeping the trail pays when a backjump would undo a large share of it, whatever its absolute length.",
    {"share": Parameter(0.05, 0.98, 0.7), "depth": Parameter(2, 300, 20, whole=True)},
    {
        family: (
            Rewrite(
                SOURCE,
                "(decisionLevel() - backtrack_level) >= chrono",
                "(decisionLevel() >= @depth@ && (decisionLevel() - backtrack_level) >= @share@ * "
                "decisionLevel())",
            ),
            Rewrite(SOURCE, "confl_to_chrono (opt_conf_to_chrono)", "confl_to_chrono (0)"),
        )
        for family in ("maplechrono", "mergesat")
    },
    shadows=("chrono", "confl-to-chrono"),
)

PATCHES = (BURST, CHRONO)
