"""What happens to learnt clauses.

Shortening by binary clauses (Audemard and Simon, Glucose), and how often they are vivified (Luo, Li, Xiao,
Manya and Lu, IJCAI 2017).
"""

from __future__ import annotations

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite
from evolake.solvers.edits.patches.common import SOURCE, members

BINARY = PatchSpec(
    "minimise-binary",
    "minimise",
    "A binary clause with the asserting literal resolves literals away: shorter clauses propagate earlier.",
    {"size": Parameter(3, 200, 30, whole=True)},
    {
        "minisat": (
            members(
                "vec<char>           in_learnt;         // in_learnt[toInt(p)]: p is in the clause being "
                "learnt. All zero between uses."
            ),
            Rewrite(
                SOURCE,
                "tot_literals += out_learnt.size();",
                """if (out_learnt.size() > 1 && out_learnt.size() <= @size@) {
        in_learnt.growTo(2 * nVars(), 0);
        for (int k = 1; k < out_learnt.size(); k++) in_learnt[toInt(out_learnt[k])] = 1;
        vec<Watcher>& near = watches[~out_learnt[0]];
        for (int k = 0; k < near.size(); k++) {
            Clause& c = ca[near[k].cref];
            if (c.size() == 2) in_learnt[toInt(~(c[0] == out_learnt[0] ? c[1] : c[0]))] = 0; }
        int kept = 1;
        for (int k = 1; k < out_learnt.size(); k++)
            if (in_learnt[toInt(out_learnt[k])]) {
                in_learnt[toInt(out_learnt[k])] = 0;
                out_learnt[kept++] = out_learnt[k]; }
        out_learnt.shrink(out_learnt.size() - kept); }
    """,
                "before",
            ),
        ),
        "mergesat": (
            Rewrite(
                SOURCE, "if (out_lbd <= 6 && out_learnt.size() <= 30)", "if (out_learnt.size() <= @size@)"
            ),
        ),
    },
)

PERIOD = PatchSpec(
    "inprocess-period",
    "inprocess",
    "Vivifying after every reduction costs propagations; doing it every few reductions may buy nearly all "
    "of the shorter clauses for less.",
    {"period": Parameter(2, 20, 3, whole=True)},
    {
        "glucose": (Rewrite(SOURCE, "performLCM = 1;", "performLCM = stats[nbReduceDB] % @period@ == 0;"),),
        "maplechrono": (
            Rewrite(SOURCE, "nbconfbeforesimplify(1000)", "nbconfbeforesimplify(1000 * @period@)"),
        ),
    },
)

PATCHES = (BINARY, PERIOD)
