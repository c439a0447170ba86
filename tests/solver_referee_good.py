"""Good variants of the referee's: honest edits of the kinds that people make, larger than the catalogue's.
Every gate must let them through."""

import re
from pathlib import Path

from solver_mutants import MAIN, SOLVER
from solver_referee import HEADER, MINISAT_CONFLICT, Trial, _after, _before

PROBE = r"""
// Failed literals at the root: a literal whose assumption fails is false. Within a budget of propagations, the most watched variables first.
bool Solver::probeRoot(uint64_t most)
{
    assert(decisionLevel() == 0);
    if (propagate() != CRef_Undef) return ok = false;
    const uint64_t begun = propagations;
    std::vector<Var> order;
    for (Var v = 0; v < nVars(); v++)
        if (decision[v] && value(v) == l_Undef) order.push_back(v);
    const auto weight = [this](Var v) { return watches[mkLit(v, false)].size() + watches[mkLit(v, true)].size(); };
    std::stable_sort(order.begin(), order.end(), [&weight](Var a, Var b) { return weight(a) > weight(b); });
    vec<char> phases;
    polarity.copyTo(phases);
    for (Var v : order)
        for (bool negated : { false, true }) {
            if (propagations - begun > most) { phases.copyTo(polarity); return true; }
            if (value(v) != l_Undef) break;
            newDecisionLevel();
            uncheckedEnqueue(mkLit(v, negated));
            const bool failed = propagate() != CRef_Undef;
            cancelUntil(0);
            if (!failed) continue;
            vec<Lit> unit;
            unit.push(mkLit(v, !negated));
            proofAdd(unit);
            uncheckedEnqueue(unit[0]);
            if (propagate() != CRef_Undef) return ok = false;
        }
    phases.copyTo(polarity);
    return true;
}
"""  # noqa: E501
FAILED_LITERALS = Trial(
    "failed-literals",
    "minisat22",
    "preprocessing: failed-literal probing on a budget, with <algorithm>, <vector> and lambdas",
    (
        (SOLVER, "#include <math.h>\n", "#include <math.h>\n\n#include <algorithm>\n#include <vector>\n"),
        _before(SOLVER, "// NOTE: assumptions passed in member-variable 'assumptions'.", PROBE),
        _before(
            SOLVER,
            "    // Search:\n    int curr_restarts = 0;",
            "    if (!probeRoot(1000000)) return l_False;\n",
        ),
        _after(
            HEADER,
            "    lbool    solve_           ();",
            "    bool     probeRoot        (uint64_t most);  // Failed literals before the search.",
        ),
    ),
)

MOVED = ("analyze", "litRedundant", "analyzeFinal")
NEW_FILE = """// Conflict analysis: what a conflict teaches, made small. Taken out of Solver.cc, so that each file has one subject.

#include "core/Solver.h"

using namespace Minisat;

"""  # noqa: E501


def _split(folder: Path) -> None:
    """Move three functions of Solver.cc, each from its own line to the closing brace in the first column, to
    a file of their own."""
    source = folder / "src" / "core" / "Solver.cc"
    text, moved = source.read_text(encoding="latin-1"), []
    for name in MOVED:
        match = re.search(rf"(?ms)^(?:void|bool) Solver::{name}\(.*?^}}\n", text)
        assert match, name
        moved.append(match[0])
        text = text.replace(match[0], "")
    source.write_text(text, encoding="latin-1")
    (folder / "src" / "core" / "Analyze.cc").write_text(NEW_FILE + "\n\n".join(moved), encoding="latin-1")


SPLIT_FILES = Trial(
    "split-files",
    "minisat22",
    "a refactoring that moves conflict analysis to a file of its own, and a decay of activities that "
    "follows a schedule",
    (
        _after(
            SOLVER,
            MINISAT_CONFLICT,
            "            var_decay = conflicts < 2000 ? 0.80 : conflicts < 10000 ? 0.90 : 0.95;",
        ),
    ),
    make=_split,
)

TIERS = Trial(
    "tiered-clauses",
    "glucose421",
    "three tiers of learnt clauses by LBD, attributes, and a raw string that reports them",
    (
        (
            SOLVER,
            "        if(c.lbd() > 2 && c.size() > 2 && c.canBeDel() && !locked(c) && (i < limit)) {",
            "        const bool core = c.lbd() <= 3, middle = c.lbd() <= 6 && c.activity() > 0.5 * "
            "ca[learnts[learnts.size() / 2]].activity();\n"
            "        if(!core && !middle && c.size() > 2 && c.canBeDel() && !locked(c) && (i < limit)) {",
        ),
        (
            SOLVER,
            "            if(value(blocker) == l_True) {",
            "            if(value(blocker) == l_True) [[likely]] {",
        ),
        _after(
            MAIN,
            '    printf("c nb learnts size 1     : %" PRIu64"\\n", solver.stats[nbUn]);',
            '    puts(R"(c tiers of clauses      : LBD up to 3 kept,\nc                           up to 6 '
            'by use)");',
        ),
    ),
)

BEST_PHASE = Trial(
    "best-phase",
    "glucose421",
    "restarts by Luby's sequence, at which the phases of the longest trail are taken up again, less and "
    "less often",
    (
        _after(
            HEADER,
            "    vec<char>           polarity;         // The preferred polarity of each variable.",
            "    vec<char>           best_polarity;    // Phases of the longest trail since they were "
            "last taken up.\n"
            "    int                 best_trail;\n    uint64_t            next_best, best_gap;",
        ),
        (SOLVER, '"Use the Luby restart sequence", false', '"Use the Luby restart sequence", true'),
        _before(
            SOLVER, "    lbdQueue.initSize(sizeLBDQueue);", "    best_trail = 0; next_best = best_gap = 400;"
        ),
        (
            SOLVER,
            "            trailQueue.push(trail.size());\n",
            "            trailQueue.push(trail.size());\n            if(trail.size() > best_trail) {\n"
            "                best_trail = trail.size();\n"
            "                best_polarity.growTo(nVars(), true);\n                for(int k = 0; k < "
            "trail_lim.last(); k++)\n"
            "                    best_polarity[var(trail[k])] = sign(trail[k]);\n            }\n",
        ),
        (
            SOLVER,
            "                cancelUntil(bt);\n                return l_Undef;",
            "                cancelUntil(bt);\n                if(conflicts >= next_best && best_trail > "
            "0) {\n"
            "                    for(Var v = 0; v < best_polarity.size(); v++) polarity[v] = "
            "best_polarity[v];\n"
            "                    newDescent = false;\n                    best_trail = 0;\n"
            "                    best_gap += best_gap / 2;\n"
            "                    next_best = conflicts + best_gap;\n"
            "                }\n                return l_Undef;",
        ),
    ),
)

RHYTHM = r"""#include "internal.hpp"

namespace CaDiCaL {

// Young unstable phases restart quickly, old ones less so: the margin by which
// recent glues must exceed the average grows with the conflicts of the phase.

double Internal::restart_margin () const {
  const double length = std::max (inc.stabilize, (int64_t) 1);
  const double left = std::max (lim.stabilize - stats.conflicts, (int64_t) 0);
  const double age = 1.0 - std::min (1.0, left / length);
  return (100.0 + opts.restartmargin * (0.5 + age)) / 100.0;
}

} // namespace CaDiCaL
"""
PHASE_AGE = Trial(
    "phase-age",
    "cadical195",
    "a source file that is added, with a restart margin that follows the age of a phase",
    (
        (
            "src/restart.cpp",
            "  double margin = (100.0 + opts.restartmargin) / 100.0;",
            "  const double margin = restart_margin ();",
        ),
        _after(
            "src/internal.hpp",
            "  bool restarting ();",
            "  double restart_margin () const; // in 'rhythm.cpp'",
        ),
    ),
    {"src/rhythm.cpp": RHYTHM},
)

GOOD = (FAILED_LITERALS, SPLIT_FILES, TIERS, BEST_PHASE, PHASE_AGE)
