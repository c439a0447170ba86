"""Which value a decision tries first.

Initial values by weighted occurrences (Jeroslow and Wang, 1990); from time to time the saved phases give way
to the best trail seen, to their opposite, or to the first ones (rephasing: Biere and Fleury, 2020).
"""

from __future__ import annotations

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite
from evolake.solvers.edits.patches.common import SOURCE, members

_INITIAL = (
    Rewrite(
        SOURCE,
        "solves++;",
        """
    {   // First phases by occurrences, a clause of n literals weighing @base@^-n.
        vec<double> lean;
        lean.growTo(nVars(), 0);
        for (int i = 0; i < clauses.size(); i++) {
            Clause& c = ca[clauses[i]];
            double weight = pow(@base@, -c.size());
            for (int k = 0; k < c.size(); k++) lean[var(c[k])] += sign(c[k]) ? -weight : weight; }
        for (Var v = 0; v < nVars(); v++) polarity[v] = @against@ ? lean[v] > 0 : lean[v] <= 0;
    }""",
        "after",
    ),
)
INITIAL = PatchSpec(
    "phase-initial",
    "phase-initial",
    "Starting every variable at the value that satisfies more and shorter clauses (or fewer, for early "
    "conflicts) helps phase saving.",
    {"base": Parameter(1.1, 5.0, 2.0), "against": Parameter(0, 1, 0, whole=True, logarithmic=False)},
    dict.fromkeys(("minisat", "glucose", "maplechrono", "mergesat"), _INITIAL),
)

_REPHASE = (
    members(
        """vec<char>           best_phase;        // Phases of the longest conflict-free trail since the last rephasing.
    int                 best_assigned = 0;
    uint64_t            rephase_at = @interval@;
    int                 rephased = 0;
    void noteTrail() {
        int assigned = decisionLevel() == 0 ? 0 : trail_lim.last();
        if (assigned <= best_assigned) return;
        best_assigned = assigned;
        best_phase.growTo(nVars(), 1);
        for (int k = 0; k < assigned; k++) best_phase[var(trail[k])] = sign(trail[k]); }
    void rephase() {
        rephased++;
        rephase_at = conflicts + (uint64_t) (@interval@ * pow((double) rephased, @growth@));
        best_phase.growTo(nVars(), 1);
        int turn = rephased % 4;
        for (Var v = 0; v < nVars(); v++) polarity[v] = turn == 2 ? !polarity[v] : turn == 0 ? 1 : best_phase[v];
        best_assigned = 0; }"""
    ),
    Rewrite("core/Solver.h", '#include "core/SolverTypes.h"', "#include <math.h>\n", "before", support=True),
    Rewrite(SOURCE, "learnt_clause.clear();", "noteTrail();\n            ", "before"),
    Rewrite(
        SOURCE,
        "Lit next = lit_Undef;",
        """if ((uint64_t) conflicts >= rephase_at) {
                cancelUntil(0);
                rephase();
                continue; }
            """,
        "before",
    ),
)
REPHASE = PatchSpec(
    "phase-rephase",
    "phase-schedule",
    "Returning to the phases of the longest trail, and now and then to their opposite, frees the search "
    "from one basin of saved phases.",
    {
        "interval": Parameter(200, 20_000, 1000, whole=True),
        "growth": Parameter(0.0, 1.5, 1.0, logarithmic=False),
    },
    dict.fromkeys(("minisat", "glucose", "maplechrono"), _REPHASE),
)

PATCHES = (INITIAL, REPHASE)
