"""When to restart, and how far back.

Geometric intervals (Minisat 1), inner and outer ones (Biere, PicoSAT, JSAT 2008), comparing a fast and a slow
moving average of glue (Biere and Froehlich, POS 2015, after Audemard and Simon), phases with rare restarts
between phases with many (Oh, 2015; stabilisation in CaDiCaL), and keeping the decisions that would be taken
again (van der Tak, Ramos and Heule, 2011).
"""

from __future__ import annotations

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite
from evolake.solvers.edits.patches.common import MINISAT_GLUE, RESTART_DONE_ANCHOR, SOURCE, members

MINISAT_CALL = "search(rest_base * restart_first)"
MINISAT_DUE = "nof_conflicts >= 0 && conflictC >= nof_conflicts || !withinBudget()"
MINISAT_BACK = "progress_estimate = progressEstimate(); cancelUntil(0); return l_Undef;"
GLUCOSE_CALL = "luby_restart ? luby(restart_inc, curr_restarts) * luby_restart_factor : 0"
GLUCOSE_DUE = (
    "(luby_restart && nof_conflicts <= conflictC) || "
    "(!luby_restart && (lbdQueue.isvalid() && ((lbdQueue.getavg() * K) > (sumLBD / conflictsRestarts))))"
)
GLUCOSE_COUNTED = "nof_conflicts <= conflictC"
LOOP = "while (status == l_Undef)"
LUBY_OPTIONS = ("luby", "rinc", "rfirst", "luby-factor")
GLUCOSE_OPTIONS = ("K", "R", "szLBDQueue", "szTrailQueue")

_GEOMETRIC = "(int) fmin(1e9, @first@ * pow(@factor@, curr_restarts))"
GEOMETRIC = PatchSpec(
    "restart-geometric",
    "restart",
    "Restart intervals that grow by a constant factor let late searches run deep while early ones still "
    "sample several trees.",
    {"first": Parameter(20, 1000, 100, whole=True), "factor": Parameter(1.02, 2.0, 1.5)},
    {
        "minisat": (Rewrite(SOURCE, MINISAT_CALL, f"search({_GEOMETRIC})"),),
        "glucose": (Rewrite(SOURCE, GLUCOSE_CALL, _GEOMETRIC), Rewrite(SOURCE, GLUCOSE_DUE, GLUCOSE_COUNTED)),
    },
    shadows=LUBY_OPTIONS + GLUCOSE_OPTIONS,
)

_START = "double inner_interval = @first@, outer_interval = @first@;\n    "
_STEP = """
        if (inner_interval >= outer_interval) { outer_interval = fmin(1e9, outer_interval * @factor@); inner_interval = @first@; }
        else inner_interval *= @factor@;"""
_INNER = (Rewrite(SOURCE, LOOP, _START, "before"), Rewrite(SOURCE, RESTART_DONE_ANCHOR, _STEP, "after"))
INNER_OUTER = PatchSpec(
    "restart-inner-outer",
    "restart",
    "An inner geometric series that starts again whenever it reaches a growing outer one mixes short and "
    "long searches for the whole run.",
    {"first": Parameter(20, 500, 100, whole=True), "factor": Parameter(1.05, 2.0, 1.1)},
    {
        "minisat": (*_INNER, Rewrite(SOURCE, MINISAT_CALL, "search((int) inner_interval)")),
        "glucose": (
            *_INNER,
            Rewrite(SOURCE, GLUCOSE_CALL, "(int) inner_interval"),
            Rewrite(SOURCE, GLUCOSE_DUE, GLUCOSE_COUNTED),
        ),
        "mergesat": (
            Rewrite(SOURCE, "int curr_restarts = 0;", _START, "before"),
            _INNER[1],
            Rewrite(SOURCE, "luby(restart_inc, curr_restarts) * restart_first", "(int) inner_interval"),
        ),
    },
    shadows=LUBY_OPTIONS + GLUCOSE_OPTIONS,
)

_EMA_MEMBERS = members(
    """double              glue_fast = 0, glue_slow = 0;  // Moving averages of the glue of learnt clauses, unbiased while few were learnt.
    void noteGlue(double glue) {
        glue_fast += (glue - glue_fast) / fmin((double) conflicts, @fast@);
        glue_slow += (glue - glue_slow) / fmin((double) conflicts, @slow@); }"""
)
_EMA_DUE = "(conflictC >= @minimum@ && glue_fast > @margin@ * glue_slow)"
_MATH = Rewrite(
    "core/Solver.h", '#include "core/SolverTypes.h"', "#include <math.h>\n", "before", support=True
)
EMA = PatchSpec(
    "restart-ema",
    "restart",
    "Restarting when the recent glue is above its long-run average leaves bad regions quickly and stays "
    "in good ones.",
    {
        "fast": Parameter(8, 200, 33),
        "slow": Parameter(1e3, 1e5, 1e4),
        "margin": Parameter(1.0, 1.5, 1.15),
        "minimum": Parameter(2, 100, 10, whole=True),
    },
    {
        "minisat": (
            *MINISAT_GLUE,
            _MATH,
            _EMA_MEMBERS,
            Rewrite(
                SOURCE, "cancelUntil(backtrack_level);", "noteGlue(learnt_glue);\n            ", "before"
            ),
            Rewrite(SOURCE, MINISAT_DUE, f"{_EMA_DUE} || !withinBudget()"),
        ),
        "glucose": (
            _MATH,
            _EMA_MEMBERS,
            Rewrite(SOURCE, "lbdQueue.push(nblevels);", " noteGlue(nblevels);", "after"),
            Rewrite(SOURCE, GLUCOSE_DUE, _EMA_DUE),
        ),
    },
    shadows=LUBY_OPTIONS + GLUCOSE_OPTIONS,
)

_MODE_MEMBERS = members(
    """bool                rare_restarts = false;   // The current mode, and when it ends.
    double              mode_length = @length@;
    uint64_t            mode_end = @length@;"""
)
_MODE_STEP = Rewrite(
    SOURCE,
    RESTART_DONE_ANCHOR,
    """
        if (conflicts >= mode_end) { rare_restarts = !rare_restarts; mode_length *= @growth@; mode_end = conflicts + (uint64_t) mode_length; }""",
    "after",
)
MODES = PatchSpec(
    "restart-modes",
    "restart",
    "Long phases with rare restarts favour satisfiable instances, phases with many restarts favour "
    "refutations; alternating serves both.",
    {
        "length": Parameter(300, 20_000, 2000, whole=True),
        "growth": Parameter(1.0, 2.0, 1.3),
        "stretch": Parameter(3, 100, 16, whole=True),
    },
    {
        "minisat": (
            _MODE_MEMBERS,
            _MODE_STEP,
            Rewrite(
                SOURCE,
                MINISAT_CALL,
                "search((int) fmin(1e9, rest_base * restart_first * (rare_restarts ? @stretch@ : 1)))",
            ),
        ),
        "glucose": (
            _MODE_MEMBERS,
            _MODE_STEP,
            Rewrite(SOURCE, GLUCOSE_DUE, f"rare_restarts ? conflictC >= @stretch@ * 50 : ({GLUCOSE_DUE})"),
        ),
    },
)

_REUSE_MEMBERS = members(
    """int reusableLevel() {  // The levels whose decisions would be taken again, in the same order.
        while (!order_heap.empty() && value(order_heap[0]) != l_Undef) order_heap.removeMin();
        if (order_heap.empty()) return 0;
        double next = activity[order_heap[0]];
        int keep = 0;
        while (keep < decisionLevel() && trail_lim[keep] < trail.size() && activity[var(trail[trail_lim[keep]])] > next) keep++;
        return keep; }"""
)
REUSE = PatchSpec(
    "restart-reuse-trail",
    "restart-target",
    "Keeping the decisions that a restart would take again saves propagations, so restarts cost less.",
    {"full_every": Parameter(2, 64, 8, whole=True)},
    {
        "minisat": (
            _REUSE_MEMBERS,
            Rewrite(
                SOURCE,
                MINISAT_BACK,
                "progress_estimate = progressEstimate();\n                cancelUntil(starts % "
                "@full_every@ == 0 ? 0 : reusableLevel());\n"
                "                return l_Undef;",
            ),
        ),
        "glucose": (
            _REUSE_MEMBERS,
            Rewrite(
                SOURCE,
                "int bt = 0;",
                "int bt = (starts % @full_every@ == 0 || performLCM) ? 0 : reusableLevel();",
            ),
        ),
    },
)

PATCHES = (GEOMETRIC, INNER_OUTER, EMA, MODES, REUSE)
