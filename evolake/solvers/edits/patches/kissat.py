"""Kissat's own policies, each at the one place where it is decided.

Restarts that grow rarer, another margin at first, and blocked ones (Audemard and Simon, SAT 2012); stable and
focused modes of unequal length (Oh, 2015; Biere and Froehlich, 2019); target phases and rephasing (Biere and
Fleury, 2020); which clauses are dropped, and when (Glucose; Biere, CaDiCaL and Kissat); score decay that
starts strong (Glucose 2.3); reasons bumped by mode; backtracking by relative distance (Nadel and Ryvchin, SAT
2018); how often there is inprocessing, and what is vivified first (Luo, Li, Xiao, Manya and Lu, IJCAI 2017).
"""

from __future__ import annotations

from functools import partial

from evolake.solvers.edits.model import Parameter, Rewrite
from evolake.solvers.edits.patches.common import included_after, spec_of_one

_spec = partial(spec_of_one, "kissat")

RESTART_GROWING = _spec(
    "kissat-restart-growing",
    "restart",
    "Restart intervals of the focused mode that grow more steeply with the logarithm of restarts let long "
    "searches run deeper.",
    {"scale": Parameter(0.2, 40, 4)},
    Rewrite(
        "restart.c",
        "delta += kissat_logn (restarts) - 1;",
        "delta += (uint64_t) (@scale@ * (kissat_logn (restarts) - 1));",
    ),
)
RESTART_MARGIN = _spec(
    "kissat-restart-margin",
    "restart-margin",
    "Averages of glue say little at first: with another margin over the first conflicts restarts come "
    "more often, or less, while scores settle.",
    {"first": Parameter(1, 60, 20, whole=True), "until": Parameter(2000, 500_000, 50_000, whole=True)},
    Rewrite(
        "restart.c",
        "(100.0 + GET_OPTION (restartmargin)) / 100.0;",
        "(100.0 + (CONFLICTS < @until@ ? @first@ : GET_OPTION (restartmargin))) / 100.0;",
    ),
)
RESTART_BLOCKED = _spec(
    "kissat-restart-blocked",
    "restart-block",
    "A trail that is longer than conflicts leave it on average may be close to a model: a restart that "
    "would throw it away is put off.",
    {"share": Parameter(0.7, 1.4, 1.0)},
    Rewrite(
        "restart.c",
        "const double fast = AVERAGE (fast_glue);",
        "if (kissat_percent (kissat_assigned (solver), solver->active) > @share@ * AVERAGE (trail))\n    "
        "return false;\n  ",
        "before",
    ),
)
MODES = _spec(
    "kissat-mode-lengths",
    "mode",
    "Stable and focused modes serve satisfiable and unsatisfiable formulas; as long as each other they "
    "suit neither best.",
    {"stable": Parameter(0.2, 4, 1.5), "focused": Parameter(0.2, 4, 0.7)},
    Rewrite(
        "mode.c",
        "limits->mode.ticks = statistics->search_ticks + delta_ticks;",
        "limits->mode.ticks = statistics->search_ticks + (uint64_t) (@stable@ * delta_ticks);",
    ),
    Rewrite(
        "mode.c",
        "const uint64_t scaled = interval * kissat_nlogpown (count, 4);",
        "const uint64_t scaled = (uint64_t) (@focused@ * interval * kissat_nlogpown (count, 4));",
    ),
)
TARGET_FOCUSED = _spec(
    "kissat-target-focused",
    "phase-target",
    "Target phases of the stable mode, followed in some of the focused phases too, lead quick restarts to "
    "where the longest trail was.",
    {"every": Parameter(1, 12, 2, whole=True)},
    Rewrite(
        "decide.c",
        "else if (solver->stable || GET_OPTION (target) > 1)",
        "else if (solver->stable || GET_OPTION (target) > 1 || (solver->statistics.switched >> 1) % "
        "@every@ == 0)",
    ),
)
INITIAL_FOCUSED = _spec(
    "kissat-initial-focused",
    "phase-initial",
    "Some focused phases decide by the initial value and some by its opposite; in how many of them is a "
    "choice between exploring and staying near.",
    {"period": Parameter(2, 64, 3, whole=True)},
    Rewrite(
        "decide.c",
        "switch ((solver->statistics.switched >> 1) & 7) {",
        "switch ((solver->statistics.switched >> 1) % @period@) {",
    ),
)
REPHASE_SEQUENCE = _spec(
    "kissat-rephase-sequence",
    "phase-sequence",
    "Original and inverted phases lose what was found: taking them once in so many rephasings leaves more "
    "of these to the best trail and to walks.",
    {"every": Parameter(2, 40, 8, whole=True), "walks": Parameter(1, 8, 2, whole=True)},
    Rewrite(  # in the schedule's order: 0 is the best trail, 1 a walk, 2 inverted and 5 original phases
        "rephase.c",
        "(count - 1) % (uint64_t) size_rephase_schedule;",
        "count % @every@ ? count % (@walks@ + 1) != 0 : (count / @every@) & 1 ? 2 : 5;",
    ),
)
REPHASE_SCHEDULE = _spec(
    "kissat-rephase-schedule",
    "phase-schedule",
    "Rephasing at intervals that grow more slowly keeps leaving basins of saved phases in long runs.",
    {"factor": Parameter(0.2, 5, 1.5), "power": Parameter(0.0, 1.6, 0.8, logarithmic=False)},
    included_after("rephase.c", "#include <string.h>", "math.h"),
    Rewrite(
        "rephase.c",
        "UPDATE_CONFLICT_LIMIT (rephase, rephased, NLOG3N, false);",
        "solver->limits.rephase.conflicts =\n"
        "      CONFLICTS + 1 + (uint64_t) (GET_OPTION (rephaseint) * @factor@ * pow (GET (rephased), "
        "@power@));",
    ),
)
REDUCE_SCHEDULE = _spec(
    "kissat-reduce-schedule",
    "reduce-schedule",
    "The interval between reductions decides how many clauses are carried: a power of their number keeps "
    "propagation fast, or memory long.",
    {"factor": Parameter(0.3, 6, 1.5), "power": Parameter(0.2, 1.1, 0.6)},
    Rewrite(
        "reduce.c",
        "UPDATE_CONFLICT_LIMIT (reduce, reductions, SQRT, false);",
        "solver->limits.reduce.conflicts =\n"
        "      CONFLICTS + 1 + (uint64_t) (GET_OPTION (reduceint) * @factor@ * pow (GET (reductions), "
        "@power@));",
    ),
)
_RANK = (
    "const uint64_t negative_size = ~c->size; const uint64_t negative_glue = ~c->glue; red.rank = "
    "negative_size | (negative_glue << 32);"
)
REDUCE_ORDER = _spec(
    "kissat-reduce-order",
    "reduce-order",
    "Glue first and size only among equals drops short clauses of high glue; a weighted sum of both keeps "
    "them.",
    {"weight": Parameter(0.01, 2, 0.2)},
    Rewrite("reduce.c", _RANK, "red.rank = ~(uint64_t) (256 * (c->glue + @weight@ * c->size));"),
)
REDUCE_AGE = _spec(
    "kissat-reduce-age",
    "reduce-order",
    "A clause that conflicts used since the last reductions is worth more than one of equal glue that lay "
    "idle: each idle round counts as glue.",
    {"weight": Parameter(0.02, 4, 0.5)},
    Rewrite(
        "reduce.c",
        _RANK,
        "red.rank = ~(((uint64_t) (256 * (c->glue + @weight@ * (MAX_USED - used))) << 32) | c->size);",
    ),
)
TIER_SMALL = _spec(
    "kissat-tier-small",
    "tiers",
    "A learned clause of very few literals propagates whatever its glue was when it was learned: it is "
    "kept for ever.",
    {"size": Parameter(3, 12, 6, whole=True)},
    Rewrite(
        "reduce.c",
        "if (glue <= tier1 && used) continue;",
        "if (c->size <= @size@)\n      continue;\n    ",
        "before",
    ),
)
TIER_ROUNDS = _spec(
    "kissat-tier-rounds",
    "tier-rounds",
    "A clause of the second tier is spared for some reductions after it was used; for how many is what a "
    "tier between for ever and at once means.",
    {"rounds": Parameter(1, 12, 3, whole=True)},
    Rewrite("reduce.c", "used >= MAX_USED - 1)", "used + @rounds@ > MAX_USED)"),
)
SCORE_RAMP = _spec(
    "kissat-score-ramp",
    "vsids-decay",
    "A strong decay of scores over the first conflicts follows the newest ones; the weak one later keeps "
    "long-run structure.",
    {"first": Parameter(60, 400, 200, whole=True), "until": Parameter(3000, 300_000, 30_000, whole=True)},
    Rewrite(
        "bump.c",
        "const double decay = GET_OPTION (decay) * 1e-3;",
        "const double decay = (CONFLICTS < @until@ ? @first@ : GET_OPTION (decay)) * 1e-3;",
    ),
)
BUMP_REASONS = _spec(
    "kissat-bump-reasons",
    "bump",
    "How many variables of reasons are bumped beside those of the conflict: more in stable mode, fewer in "
    "focused mode, or the reverse.",
    {"stable": Parameter(1, 60, 20, whole=True), "focused": Parameter(1, 60, 4, whole=True)},
    Rewrite(
        "analyze.c",
        "const size_t limit = GET_OPTION (bumpreasonslimit) * saved;",
        "const size_t limit = (solver->stable ? @stable@ : @focused@) * saved;",
    ),
    shadows=("bumpreasonslimit",),
)
CHRONO = _spec(
    "kissat-chrono-relative",
    "backtrack",
    "Keeping the trail pays when a backjump would undo a large share of it, whatever its absolute length.",
    {"share": Parameter(0.05, 0.98, 0.7), "depth": Parameter(2, 300, 20, whole=True)},
    Rewrite(
        "learn.c",
        "} else if (delta > limit) {",
        "} else if (limit < UINT_MAX && solver->level >= @depth@ &&\n             delta > @share@ * "
        "solver->level) {",
    ),
    shadows=("chronolevels",),
)
PROBE_SCHEDULE = _spec(
    "kissat-probe-schedule",
    "inprocess",
    "Vivification and sweeping pay early; a steeper growth of their intervals gives late time back to "
    "search, a flatter one to inprocessing.",
    {"factor": Parameter(0.2, 5, 0.6), "power": Parameter(0.4, 1.8, 1.3)},
    included_after("probe.c", '#include "vivify.h"', "math.h"),
    Rewrite(
        "probe.c",
        "UPDATE_CONFLICT_LIMIT (probe, probings, NLOGN, true);",
        "const uint64_t delta = 1 + (uint64_t) (GET_OPTION (probeint) * @factor@ * pow (GET (probings), "
        "@power@));\n"
        '  solver->limits.probe.conflicts = CONFLICTS + kissat_scale_delta (solver, "probe", delta);',
    ),
)
VIVIFY_EARLY = _spec(
    "kissat-vivify-early",
    "vivify-shares",
    "Early in a run few learned clauses will last: the effort goes to the clauses of the formula first, "
    "and to the learned ones later.",
    {"early": Parameter(0.5, 30, 4), "half": Parameter(1, 60, 8)},
    Rewrite(
        "vivify.c",
        "double sum = irr_budget + tier1_budget",
        "irr_budget *= 1 + @early@ / (1 + solver->statistics.vivifications / @half@);\n  ",
        "before",
    ),
)

PATCHES = (
    RESTART_GROWING,
    RESTART_MARGIN,
    RESTART_BLOCKED,
    MODES,
    TARGET_FOCUSED,
    INITIAL_FOCUSED,
    REPHASE_SEQUENCE,
    REPHASE_SCHEDULE,
    REDUCE_SCHEDULE,
    REDUCE_ORDER,
    REDUCE_AGE,
    TIER_SMALL,
    TIER_ROUNDS,
    SCORE_RAMP,
    BUMP_REASONS,
    CHRONO,
    PROBE_SCHEDULE,
    VIVIFY_EARLY,
)
