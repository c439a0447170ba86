"""How variables earn their place in the decision order.

A decay that starts low and rises (Glucose 2.3), averaged conflict indices instead of decaying sums (ACIDS:
Biere and Froehlich, SAT 2015), and bumping the reasons of a learnt clause's literals too (Liang, Ganesh,
Poupart and Czarnecki, 2016).
"""

from __future__ import annotations

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite
from evolake.solvers.edits.patches.common import HEADER, SOURCE

_RAMP = (
    "if (conflicts % @every@ == 0 && var_decay < @last@) var_decay = var_decay + @step@ < @last@ ? "
    "var_decay + @step@ : @last@;"
)
_FIRST = Rewrite(SOURCE, "var_decay(opt_var_decay)", "var_decay(@first@)")
RAMP = PatchSpec(
    "vsids-ramp",
    "vsids-decay",
    "A strong decay early follows the newest conflicts; a weak one later keeps long-run structure.",
    {
        "first": Parameter(0.6, 0.93, 0.8),
        "last": Parameter(0.9, 0.999, 0.95),
        "step": Parameter(0.002, 0.03, 0.01),
        "every": Parameter(200, 10_000, 2000, whole=True),
    },
    {
        "minisat": (_FIRST, Rewrite(SOURCE, "conflicts++; conflictC++;", f"\n            {_RAMP}", "after")),
        "glucose": (
            _FIRST,
            Rewrite(
                SOURCE, "if(conflicts % 5000 == 0 && var_decay < max_var_decay) var_decay += 0.01;", _RAMP
            ),
        ),
        "mergesat": (
            _FIRST,
            Rewrite(SOURCE, "var_decay_timer(opt_var_decay_conflicts)", "var_decay_timer(@every@)"),
            Rewrite(
                SOURCE,
                "if (--var_decay_timer == 0 && var_decay < 0.95) var_decay_timer = var_decay_timer_init, "
                "var_decay += 0.01;",
                "if (--var_decay_timer == 0 && var_decay < @last@) var_decay_timer = @every@, var_decay = "
                "fmin(@last@, var_decay + @step@);",
            ),
        ),
    },
    shadows=("var-decay", "max-var-decay", "var-decay-conflicts"),
)

AVERAGE = PatchSpec(
    "vsids-average",
    "vsids-score",
    "Moving a score part of the way to the number of the current conflict remembers less than a decaying "
    "sum and needs no rescaling.",
    {"weight": Parameter(0.1, 0.9, 0.5)},
    {
        family: (
            Rewrite(
                HEADER,
                "(activity[v] += inc) > 1e100",
                "(activity[v] += @weight@ * ((double) conflicts + 1 - activity[v])) > 1e100",
            ),
        )
        for family in ("minisat", "glucose")
    },
    shadows=("var-decay", "max-var-decay"),
)

REASONS = PatchSpec(
    "bump-reason-side",
    "bump",
    "Variables in the reasons of a short learnt clause are about to matter: a smaller bump brings them "
    "forward too.",
    {"size": Parameter(3, 60, 15, whole=True), "share": Parameter(0.1, 1.0, 0.5)},
    {
        family: (
            Rewrite(
                SOURCE,
                "for (int j = 0; j < analyze_toclear.size(); j++) seen[var(analyze_toclear[j])] = 0;",
                """if (out_learnt.size() <= @size@)
        for (int k = 0; k < out_learnt.size(); k++) {
            CRef side = reason(var(out_learnt[k]));
            if (side == CRef_Undef) continue;
            for (int m = 0; m < ca[side].size(); m++) {
                Lit near = ca[side][m];
                if (seen[var(near)] || level(var(near)) == 0) continue;
                varBumpActivity(var(near), @share@ * var_inc);
                seen[var(near)] = 1;
                analyze_toclear.push(near); } }
    """,
                "before",
            ),
        )
        for family in ("minisat", "glucose")
    },
)

PATCHES = (RAMP, AVERAGE, REASONS)
