"""MergeSat's own policies: it alternates between VSIDS, restarted by glue, and LRB or distance, restarted by
Luby's series.

Restarts put off near a model (Audemard and Simon, SAT 2012); phases of unequal length that grow (Oh, 2015;
Biere and Froehlich, 2019); target phases and rephasing on another schedule (Biere and Fleury, 2020); three
tiers of learnt clauses (Oh, 2015); the step of learning-rate branching (Liang, Ganesh, Poupart and Czarnecki,
SAT 2016); vivification of the third tier too (Luo, Li, Xiao, Manya and Lu, IJCAI 2017).
"""

from __future__ import annotations

from functools import partial

from evolake.solvers.edits.model import Parameter, Rewrite
from evolake.solvers.edits.patches.common import SOURCE, spec_of_one

_spec = partial(spec_of_one, "mergesat")
CONFLICT = "conflicts++; nof_conflicts--;"

RESTART_BLOCKED = _spec(
    "mergesat-restart-blocked",
    "restart-block",
    "A trail nearly as long as the longest one so far may be close to a model: the restart by glue that "
    "would throw it away is put off.",
    {"share": Parameter(0.5, 0.99, 0.9)},
    Rewrite(
        SOURCE,
        CONFLICT,
        "\n            if (usesVSIDS() && trail.size() > @share@ * max_trail) lbd_queue.clear();",
        "after",
    ),
)
MODES = _spec(
    "mergesat-mode-lengths",
    "mode",
    "VSIDS and learning-rate branching suit different formulas; changing between them at every restart "
    "lets neither work, growing phases let both.",
    {
        "first": Parameter(200, 20_000, 1000, whole=True),
        "growth": Parameter(1.0, 2.0, 1.2),
        "vsids": Parameter(0.2, 5, 1.5),
    },
    Rewrite(
        SOURCE,
        "int curr_restarts = 0;",
        "double mode_length = @first@;\n    uint64_t mode_end = conflicts + @first@;\n    ",
        "before",
    ),
    Rewrite(
        SOURCE,
        "if (starts - last_switch_conflicts > switch_heristic_mod) {",
        """if (conflicts >= mode_end) {
            mode_length *= @growth@;
            mode_end = conflicts + (uint64_t)(usesVSIDS() ? mode_length : @vsids@ * mode_length);""",
    ),
    shadows=("ccnr-switch-heuristic",),
)
TARGET = _spec(
    "mergesat-target-phase",
    "phase-target",
    "With few restarts, deciding towards the longest trail of the last conflicts and not towards the "
    "newest phases comes closer to a model.",
    {"memory": Parameter(200, 50_000, 3000, whole=True)},
    Rewrite(SOURCE, CONFLICT, "\n            if (conflicts % @memory@ == 0) max_trail = 0;", "after"),
    Rewrite(
        SOURCE,
        "return mkLit(next, polarity[next]);",
        "if (!usesVSIDS() && max_trail > 0) return mkLit(next, !top_trail_soln[next]);\n    ",
        "before",
    ),
)
REPHASE = _spec(
    "mergesat-rephase-schedule",
    "phase-schedule",
    "Rephasing at every restart leaves the search no phase to follow; at intervals that grow with the "
    "restarts it frees the search now and then.",
    {
        "first": Parameter(20, 5000, 100, whole=True),
        "gap": Parameter(1, 1000, 30, whole=True),
        "share": Parameter(0.0, 1.0, 0.1, logarithmic=False),
    },
    Rewrite(SOURCE, "state_change_time(opt_ccnr_state_change_time)", "state_change_time(@first@)"),
    Rewrite(
        SOURCE,
        "state_change_time = state_change_time + state_change_time_inc;",
        "state_change_time = solve_starts + starts + @gap@ + (uint64_t)(@share@ * starts);",
    ),
    Rewrite(
        SOURCE,
        "if (solve_starts + starts > state_change_time) { if (can_call_ls",
        "if (called_initial_sls) {\n                if (can_call_ls",
    ),
    shadows=("ccnr-change-time", "ccnr-change-time-inc", "ccnr-change-time-inc-inc"),
)
TIERS = _spec(
    "mergesat-tiers",
    "tiers",
    "Which glue keeps a clause for ever, and which keeps it while it is used, decides how much is carried "
    "into every propagation.",
    {
        "core": Parameter(1, 5, 2, whole=True),
        "middle": Parameter(4, 14, 8, whole=True),
        "most": Parameter(1000, 50_000, 10_000, whole=True),
    },
    Rewrite(SOURCE, "core_lbd_cut(3)", "core_lbd_cut(@core@)"),
    Rewrite(
        SOURCE, "else if (lbd <= 6 && c.mark() == LOCAL)", "else if (lbd <= @middle@ && c.mark() == LOCAL)"
    ),
    Rewrite(
        SOURCE,
        "else if (lbd <= 6) { learnts_tier2.push(cr);",
        "else if (lbd <= @middle@) {\n                    learnts_tier2.push(cr);",
    ),
    Rewrite(SOURCE, "learnts_tier2.size() > 7000", "learnts_tier2.size() > @most@"),
)
LRB_STEP = _spec(
    "mergesat-lrb-step",
    "lrb-step",
    "A step of learning-rate branching that falls as one over the conflicts settles after thousands of "
    "them, not after hundreds of thousands.",
    {"first": Parameter(0.1, 0.8, 0.4), "half": Parameter(500, 200_000, 10_000, whole=True)},
    Rewrite(
        SOURCE,
        "else if (step_size > min_step_size) step_size -= step_size_dec;",
        "else\n                step_size = min_step_size + (@first@ - min_step_size) / (1 + conflicts / "
        "(double)@half@);",
    ),
    shadows=("step-size", "step-size-dec"),
)
VIVIFY = _spec(
    "mergesat-vivify-local",
    "vivify-tiers",
    "Clauses of high glue are many and die young, yet a shorter one may rise to a tier that stays: now "
    "and then they are vivified too.",
    {"every": Parameter(1, 20, 2, whole=True)},
    Rewrite(
        SOURCE,
        "if (!simplifyLearnt(learnts_tier2, true)) return ok = false;",
        "\n    if (nbSimplifyAll % @every@ == 0 && !simplifyLearnt(learnts_local)) return ok = false;",
        "after",
    ),
)

PATCHES = (RESTART_BLOCKED, MODES, TARGET, REPHASE, TIERS, LRB_STEP, VIVIFY)
