"""What several patches share: where members and statements go in solvers of the minisat line, and the glue
(LBD) of a clause."""

from __future__ import annotations

from evolake.solvers.edits.model import Parameter, PatchSpec, Rewrite

HEADER = "core/Solver.h"
SOURCE = "core/Solver.cc"
TYPES = "core/SolverTypes.h"
MEMBERS_ANCHOR = "vec<char> decision;"
BACKTRACK_ANCHOR = "cancelUntil(backtrack_level);"
RESTART_DONE_ANCHOR = "curr_restarts++;"


def spec_of_one(
    family: str,
    name: str,
    slot: str,
    expects: str,
    parameters: dict[str, Parameter],
    *rewrites: Rewrite,
    shadows: tuple[str, ...] = (),
) -> PatchSpec:
    """Return a patch that has a form for one family of bases only."""
    return PatchSpec(name, slot, expects, parameters, {family: rewrites}, shadows)


def included_after(path: str, anchor: str, header: str) -> Rewrite:
    """Return a header of the standard library that a file lacks, on the line after one of the file's
    includes."""
    return Rewrite(path, anchor, f"\n#include <{header}>", "after", support=True)


def members(text: str, *, support: bool = False) -> Rewrite:
    """Add new members of the class Solver, each with its initial value in place."""
    return Rewrite(HEADER, MEMBERS_ANCHOR, text + "\n    ", "before", support)


GLUE_MEMBERS = members(
    """vec<uint32_t>       glue_seen;        // glue_seen[level] == glue_stamp: this level is counted already.
    uint32_t            glue_stamp = 0;
    template<class Lits> int glueOf(const Lits& lits) {  // Number of decision levels among assigned literals.
        int glue = 0;
        glue_stamp++;
        for (int k = 0; k < lits.size(); k++) {
            int l = level(var(lits[k]));
            glue_seen.growTo(l + 1, 0);
            if (glue_seen[l] != glue_stamp) { glue_seen[l] = glue_stamp; glue++; } }
        return glue; }""",
    support=True,
)
LEARNT_GLUE = Rewrite(
    SOURCE, BACKTRACK_ANCHOR, "int learnt_glue = glueOf(learnt_clause);\n            ", "before", support=True
)
MINISAT_GLUE = (GLUE_MEMBERS, LEARNT_GLUE)
