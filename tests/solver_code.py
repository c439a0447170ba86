"""A small source in the manner of a solver, and what the tracked rules on code say of a changed one."""

from pathlib import Path

import evolake.solvers.rules  # noqa: F401
from evolake.gates import load_rules
from evolake.gates.checkers import apply
from evolake.solvers.rules import additions

RULES = load_rules(Path(__file__).parents[1] / "data_lake" / "seeds" / "rules", "solvers")
BASE = """
#include <stdio.h>
#include "core/Solver.h"
static DoubleOption opt_decay(_cat, "var-decay", "How fast activity fades", 0.95, DoubleRange(0, false, 1, false));
static const int limits[] = {1, 2, 3};
static Solver* solver;
void Solver::printStats() { double now = cpuTime(); printf("c time %g\\n", now); }
lbool Solver::search(int budget) {
    for (;;) {
        if (conflicts > budget) return l_Undef;
        if (certified) fprintf(proof_file, "0\\n");
        reduceDB();  // fork() and time(0) in a comment are no calls
    }
}
int main(int argc, char** argv) {
    FILE* in = fopen(argv[1], "r");
    Solver S;
    printf(S.solve() ? "s SATISFIABLE\\n" : "s UNSATISFIABLE\\n");
    exit(0);
}
"""  # noqa: E501
SEARCH = "        reduceDB();"


def reasons_of(variant: str, base: str = BASE, more: dict[str, bytes] | None = None) -> dict[str, str]:
    """Reasons by rule id, of the rules on code."""
    tree = {"src/core/Solver.cc": variant.encode(), **(more or {})}
    source = additions(tree, {"src/core/Solver.cc": base.encode()}).to_json()
    evidence = {"source": source, "edits": [], "parent_edits": [], "base": "toy"}
    rules = [
        rule
        for rule in RULES.of_gate("compliance")
        if rule.check not in ("solvers.layout", "solvers.documents")
    ]
    findings = {
        rule.id.removeprefix("solvers-"): apply(rule.check, evidence, rule.parameters) for rule in rules
    }
    return {name: finding.reason for name, finding in findings.items() if finding}


def in_search(code: str) -> str:
    return BASE.replace(SEARCH, f"        {code}\n{SEARCH}")
