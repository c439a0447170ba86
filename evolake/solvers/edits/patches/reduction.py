"""Which learnt clauses to keep, and when to throw some away.

Glue as the measure, small glue for ever (Audemard and Simon, IJCAI 2009); limits that grow as the square root
of conflicts (Biere, CaDiCaL).
"""

from __future__ import annotations

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite
from evolake.solvers.edits.patches.common import MINISAT_GLUE, SOURCE, TYPES, members

MINISAT_DROP = "(i < learnts.size() / 2 || c.activity() < extra_lim)"
MINISAT_ORDER = "ca[x].size() > 2 && (ca[y].size() == 2 || ca[x].activity() < ca[y].activity())"
_BY_GLUE = (
    "ca[x].size() > 2 && (ca[y].size() == 2 || ca[x].glue() > ca[y].glue() ||\n"
    "            (ca[x].glue() == ca[y].glue() && ca[x].activity() < ca[y].activity()))"
)

GLUE_TIERS = PatchSpec(
    "reduce-glue-tiers",
    "reduce",
    "Clauses that span few decision levels propagate across the tree: keep the smallest glue for ever, "
    "drop the worst glue first.",
    {"core": Parameter(1, 6, 3, whole=True), "fraction": Parameter(0.25, 0.9, 0.6)},
    {
        "minisat": (
            *MINISAT_GLUE,
            Rewrite(
                TYPES,
                "union { Lit lit; float act; uint32_t abs; CRef rel; } data[0];",
                "uint32_t glue_level;\n    ",
                "before",
            ),
            Rewrite(TYPES, "header.size = ps.size();", "\n        glue_level       = ps.size();", "after"),
            Rewrite(
                TYPES,
                "bool learnt () const { return header.learnt; }",
                "uint32_t     glue        ()      const   { return glue_level; }\n"
                "    void         glue        (uint32_t levels) { glue_level = levels; }\n    ",
                "before",
            ),
            Rewrite(TYPES, "to[cr].mark(c.mark());", "\n        to[cr].glue(c.glue());", "after"),
            Rewrite(
                SOURCE,
                "if (c.learnt()) claBumpActivity(c);",
                "\n        if (c.learnt() && c.glue() > @core@) {\n            uint32_t now = glueOf(c);\n"
                "            if (now < c.glue()) c.glue(now); }",
                "after",
            ),
            Rewrite(SOURCE, "learnts.push(cr);", "\n                ca[cr].glue(learnt_glue);", "after"),
            Rewrite(SOURCE, MINISAT_ORDER, _BY_GLUE),
            Rewrite(SOURCE, MINISAT_DROP, "c.glue() > @core@ && i < (int) (learnts.size() * @fraction@)"),
            Rewrite(
                SOURCE,
                "learnts.shrink(i - j);",
                "\n    max_learnts = fmax(max_learnts, 1.3 * learnts.size());",
                "after",
            ),
        ),
        "glucose": (
            Rewrite(
                SOURCE,
                "int limit = (learnts.size() / 2);",
                "int limit = (int) (learnts.size() * @fraction@);",
            ),
            Rewrite(
                SOURCE,
                "c.lbd() > 2 && c.size() > 2 && c.canBeDel()",
                "c.lbd() > @core@ && c.size() > 2 && c.canBeDel()",
            ),
        ),
    },
)

FRACTION = PatchSpec(
    "reduce-fraction",
    "reduce",
    "The share of clauses dropped at a reduction trades memory of the past against speed of propagation.",
    {"fraction": Parameter(0.15, 0.9, 0.7), "active": Parameter(0.0, 0.4, 0.1, logarithmic=False)},
    {
        "minisat": (
            Rewrite(SOURCE, MINISAT_DROP, "i < (int) (learnts.size() * @fraction@ * (1 - @active@))"),
        ),
        "glucose": (
            Rewrite(
                SOURCE,
                "int limit = (learnts.size() / 2);",
                "int limit = (int) (learnts.size() * @fraction@);",
            ),
            Rewrite(
                SOURCE, "int i=learnts.size()*90/100;", "int i = (int) (learnts.size() * (1 - @active@));"
            ),
        ),
        "maplechrono": (
            Rewrite(
                SOURCE,
                "int limit = learnts_local.size() / 2;",
                "int limit = (int) (learnts_local.size() * @fraction@ * (1 - @active@));",
            ),
        ),
        "mergesat": (
            Rewrite(
                SOURCE,
                "int limit = learnts_local.size() / 2;",
                "int limit = (int) (learnts_local.size() * @fraction@ * (1 - @active@));",
            ),
        ),
    },
)

SCHEDULE = PatchSpec(
    "learnt-schedule",
    "learnt-size",
    "A clause database that grows with the square root of conflicts keeps propagation fast in long runs "
    "without starving short ones.",
    {"start": Parameter(300, 20_000, 2000, whole=True), "slope": Parameter(1, 100, 15)},
    {
        "minisat": (
            Rewrite(
                SOURCE,
                "learnts.size()-nAssigns() >= max_learnts",
                "learnts.size() - nAssigns() >= @start@ + @slope@ * sqrt((double) conflicts)",
            ),
        ),
        "glucose": (
            members(
                "uint64_t            reduce_at = @start@;  // Number of conflicts at which the database "
                "is reduced next."
            ),
            Rewrite(
                SOURCE,
                "conflicts >= ((unsigned int) curRestart * nbclausesbeforereduce)",
                "conflicts >= reduce_at",
            ),
            Rewrite(
                SOURCE,
                "curRestart = (conflicts / nbclausesbeforereduce) + 1; reduceDB();",
                "\n                    reduce_at = conflicts + @start@ + (uint64_t) (@slope@ * "
                "sqrt((double) conflicts));",
                "after",
            ),
        ),
        "mergesat": (
            Rewrite(SOURCE, "next_L_reduce(15000)", "next_L_reduce(@start@)"),
            Rewrite(
                SOURCE,
                "next_L_reduce = conflicts + 15000;",
                "next_L_reduce = conflicts + @start@ + (uint64_t) (@slope@ * sqrt((double) conflicts));",
            ),
        ),
    },
    shadows=("firstReduceDB", "incReduceDB", "specialIncReduceDB"),
)

PATCHES = (GLUE_TIERS, FRACTION, SCHEDULE)
