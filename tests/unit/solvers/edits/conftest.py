"""A small solver of our own with the declarations and statements that anchors look for: enough to edit, far
too little to run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

SOLVER_CC = """\
static const char* group = "CORE";
static DoubleOption opt_var_decay (group, "var-decay", "The decay, of scores",  0.95, DoubleRange(0, false, 1, false));
static DoubleOption opt_seed      (group, "rnd-seed",  "Seed of random numbers", 91648253, DoubleRange(0, false, HUGE_VAL, false));
static IntOption    opt_first     (group, "rfirst",
                                   "The first "
                                   "interval", 100, IntRange(1, INT32_MAX));
static IntOption    opt_grow      (group, "grow", "Clauses more", 0);
static IntOption    opt_mode      (group, "ccmin-mode", "How", 2, IntRange(0, 2));
static BoolOption   opt_luby      (group, "luby", "Luby", true);
static DoubleOption opt_broken    (group, "broken", "Breaks its range", 0.1, DoubleRange(1, true, 2, true));
static IntOption    opt_named     (group, "named", "No literal", LIMIT, IntRange(0, 9));
Solver::Solver() : var_decay(opt_var_decay) {}
Lit Solver::pick() { if (drand(random_seed) < random_var_freq) return any(); }
lbool Solver::search(int nof_conflicts) {
    conflicts++;   conflictC++;
    cancelUntil ( backtrack_level );
    if (nof_conflicts >= 0 && conflictC >= nof_conflicts || !withinBudget()) {
        progress_estimate = progressEstimate();
        cancelUntil(0);
        return l_Undef; }
}
lbool Solver::solve_() {
    solves++;
    while (status == l_Undef) {
        status = search(rest_base * restart_first);
        curr_restarts++; }
}
"""  # noqa: E501
SOLVER_H = """\
#include "core/SolverTypes.h"
class Solver {
    vec<char>  decision;   // which variables may be decided
    bool bump(int v) { return (activity[v] += inc) > 1e100; }
};
"""
OPTIONS_HPP = """\
OPTION( chrono,            1,  0,  2,0,0,1, "chronological backtracking") \\
OPTION( elimaxeff,       2e9,  0,2e9,1,0,1, "maximum elimination efficiency") \\
OPTION( checkproof,        3,  0,  3,0,0,0, "1=drat, 2=lrat, 3=both") \\
"""


@pytest.fixture
def small_solver() -> dict[str, str]:
    return {"src/core/Solver.cc": SOLVER_CC, "src/core/Solver.h": SOLVER_H, "src/core/SolverTypes.h": ""}


@pytest.fixture
def small_options() -> dict[str, str]:
    return {"src/src/options.hpp": OPTIONS_HPP}


@pytest.fixture
def minisat() -> SimpleNamespace:
    return SimpleNamespace(name="minisat22", tunables="minisat-options", editable=("src/**/*",))
