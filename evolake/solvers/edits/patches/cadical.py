"""CaDiCaL's own policies, each at the one place where it is decided.

Restarts that grow rarer, and blocked ones (Audemard and Simon, SAT 2012); stable and focused modes of unequal
length (Oh 2015; Biere and Froehlich 2019); reductions and rephasings on other schedules (Biere, CaDiCaL and
Kissat); which clauses are dropped first, and which never; score decay that starts strong (Glucose 2.3);
reasons bumped by mode; backtracking by relative distance (Nadel and Ryvchin, SAT 2018); how often there is
inprocessing.
"""

from __future__ import annotations

from functools import partial

from evolake.solvers.edits.model import Parameter, Rewrite
from evolake.solvers.edits.patches.common import spec_of_one

_spec = partial(spec_of_one, "cadical")

RESTART_GROWING = _spec(
    "cadical-restart-growing",
    "restart",
    "Restart intervals of the focused mode that grow with the logarithm of restarts let long searches run "
    "deeper and leave short ones as they are.",
    {"scale": Parameter(0.5, 40, 4)},
    Rewrite(
        "restart.cpp",
        "lim.restart = stats.conflicts + opts.restartint;",
        "lim.restart = stats.conflicts + opts.restartint + (int64_t) (@scale@ * log (1.0 + stats.restarts));",
    ),
)
RESTART_BLOCKED = _spec(
    "cadical-restart-blocked",
    "restart-block",
    "A trail that is much longer than on average may be close to a model: a restart that would throw it "
    "away is put off.",
    {"share": Parameter(1.005, 1.4, 1.05)},
    Rewrite(
        "restart.cpp",
        "double f = averages.current.glue.fast;",
        "if (averages.current.trail.fast > @share@ * averages.current.trail.slow)\n    return false;\n  ",
        "before",
    ),
)
MODES = _spec(
    "cadical-mode-lengths",
    "mode",
    "Stable and focused modes serve satisfiable and unsatisfiable formulas; as long as each other they "
    "suit neither best.",
    {"stable": Parameter(0.2, 4, 1.5), "focused": Parameter(0.2, 4, 0.7)},
    Rewrite(
        "restart.cpp",
        "lim.stabilize = stats.conflicts + inc.stabilize;",
        "lim.stabilize = stats.conflicts + (int64_t) (inc.stabilize * (stable ? @stable@ : @focused@));",
    ),
)
REDUCE_SCHEDULE = _spec(
    "cadical-reduce-schedule",
    "reduce-schedule",
    "The interval between reductions decides how many clauses are carried: a power of their number below "
    "one keeps propagation fast in long runs.",
    {"factor": Parameter(0.3, 6, 2), "power": Parameter(0.4, 1.3, 0.7)},
    Rewrite(
        "reduce.cpp",
        "int64_t delta = opts.reduceint * (stats.reductions + 1);",
        "int64_t delta = (int64_t) (opts.reduceint * @factor@ * pow (stats.reductions + 1.0, @power@));",
    ),
)
REDUCE_ORDER = _spec(
    "cadical-reduce-order",
    "reduce-order",
    "Glue first and size only among equals drops short clauses of high glue; a weighted sum of both keeps "
    "them.",
    {"weight": Parameter(0.01, 2, 0.2)},
    Rewrite(
        "reduce.cpp",
        "if (c->glue > d->glue) return true; if (c->glue < d->glue) return false; return c->size > d->size;",
        "return c->glue + @weight@ * c->size > d->glue + @weight@ * d->size;",
    ),
)
TIER_SMALL = _spec(
    "cadical-tier-small",
    "tiers",
    "A learned clause of very few literals propagates whatever its glue was when it was learned: it is "
    "kept for ever.",
    {"size": Parameter(2, 12, 4, whole=True)},
    Rewrite(
        "clause.cpp",
        "else if (glue <= opts.reducetier1glue) keep = true;",
        "else if (glue <= opts.reducetier1glue || size <= @size@)\n    keep = true;",
    ),
)
REPHASE_SCHEDULE = _spec(
    "cadical-rephase-schedule",
    "phase-schedule",
    "Rephasing at intervals that grow more slowly keeps leaving basins of saved phases in long runs.",
    {"factor": Parameter(0.2, 5, 1.5), "power": Parameter(0.0, 1.5, 0.6, logarithmic=False)},
    Rewrite(
        "rephase.cpp",
        "int64_t delta = opts.rephaseint * (stats.rephased.total + 1);",
        "int64_t delta = 1 + (int64_t) (opts.rephaseint * @factor@ * pow (stats.rephased.total + 1.0, "
        "@power@));",
    ),
)
SCORE_RAMP = _spec(
    "cadical-score-ramp",
    "vsids-decay",
    "A strong decay of scores over the first conflicts follows the newest ones; the weak one later keeps "
    "long-run structure.",
    {"first": Parameter(600, 940, 800, whole=True), "until": Parameter(1000, 200_000, 20_000, whole=True)},
    Rewrite(
        "analyze.cpp",
        "double f = 1e3 / opts.scorefactor;",
        "double f = 1e3 / (stats.conflicts < @until@ ? @first@ : opts.scorefactor);",
    ),
)
BUMP_REASONS = _spec(
    "cadical-bump-reasons",
    "bump",
    "How far into the reasons of a learned clause variables are bumped: deeper in stable mode, less in "
    "focused mode.",
    {
        "stable": Parameter(0, 4, 2, whole=True, logarithmic=False),
        "focused": Parameter(0, 3, 2, whole=True, logarithmic=False),
    },
    Rewrite(
        "analyze.cpp",
        "bump_also_reason_literals (-lit, opts.bumpreasondepth + stable);",
        "bump_also_reason_literals (-lit, 1 + (stable ? @stable@ : @focused@));",
    ),
    shadows=("bumpreasondepth",),
)
CHRONO = _spec(
    "cadical-chrono-relative",
    "backtrack",
    "Keeping the trail pays when a backjump would undo a large share of it, whatever its absolute length.",
    {"share": Parameter(0.05, 0.98, 0.7), "depth": Parameter(2, 300, 20, whole=True)},
    Rewrite(
        "analyze.cpp",
        "level - jump > opts.chronolevelim",
        "level >= @depth@ && level - jump > @share@ * level",
    ),
    shadows=("chronolevelim",),
)
PROBE_SCHEDULE = _spec(
    "cadical-probe-schedule",
    "inprocess",
    "Vivification and probing pay early; a steeper growth of their intervals gives late time back to "
    "search, a flatter one to inprocessing.",
    {"factor": Parameter(0.2, 5, 0.6), "power": Parameter(0.4, 1.6, 1.2)},
    Rewrite(
        "probe.cpp",
        "const int64_t delta = opts.probeint * (stats.probingphases + 1);",
        "const int64_t delta = 1 + (int64_t) (opts.probeint * @factor@ * pow (stats.probingphases + 1.0, "
        "@power@));",
    ),
)

PATCHES = (
    RESTART_GROWING,
    RESTART_BLOCKED,
    MODES,
    REDUCE_SCHEDULE,
    REDUCE_ORDER,
    TIER_SMALL,
    REPHASE_SCHEDULE,
    SCORE_RAMP,
    BUMP_REASONS,
    CHRONO,
    PROBE_SCHEDULE,
)
