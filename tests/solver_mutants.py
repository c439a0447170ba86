"""Bad variants of two seeds, made by machine: each is one change of the sources that breaks one promise of a
solver.

MiniSat builds fastest; Glucose has upstream's own proof writing and answer lines, so what breaks those is
planted there. Anchors are upstream's code.
"""

from dataclasses import dataclass
from pathlib import Path

SOLVER, MAIN = "core/Solver.cc", "simp/Main.cc"
Change = tuple[str, str, str]
"""End of a file's path, an anchor that stands there once, and what comes in its place."""


@dataclass(frozen=True)
class Mutant:
    """`rule` is what must block it, its reason holding `words`. `behind`: the same where the lint of added
    code is left out; None: the same rule."""

    name: str
    base: str
    changes: tuple[Change, ...]
    rule: str
    words: str
    behind: tuple[str, str] | None = None


def plant(mutant: Mutant, folder: Path) -> list[str]:
    """Change the sources below `folder`; gives the files changed.

    An anchor that is not there exactly once is an error: a mutant that changes nothing would be a test that
    cannot fail.
    """
    changed = []
    for ending, anchor, text in mutant.changes:
        files = [
            path
            for path in sorted((folder / "src").rglob("*"))
            if path.is_file() and path.as_posix().endswith(ending)
        ]
        assert len(files) == 1, f"{mutant.name}: {len(files)} files end with {ending}"
        source = files[0].read_text(encoding="latin-1")
        assert source.count(anchor) == 1, (
            f"{mutant.name}: {anchor!r} stands {source.count(anchor)} times in {files[0].name}"
        )
        files[0].write_text(source.replace(anchor, text), encoding="latin-1")
        changed.append(files[0].relative_to(folder).as_posix())
    return changed


def _after(ending: str, anchor: str, code: str) -> Change:
    return ending, anchor, f"{anchor}\n{code}\n"


MINISAT_ADD = "bool Solver::addClause_(vec<Lit>& ps)\n{\n    assert(decisionLevel() == 0);"
MINISAT_CONFLICT = "conflicts++; conflictC++;"
MINISAT_SOLVE = "    solves++;"
GLUCOSE_ANSWER = 'printf(ret == l_True ? "s SATISFIABLE'
PINNED_VARIABLES = 37
"""Only the formula `pinned` of the tests has so many variables."""

MUTANTS = (
    Mutant(
        "wrong-learnt-clause",
        "minisat22",
        (
            _after(
                SOLVER,
                "analyze(confl, learnt_clause, backtrack_level);",
                "            if (learnt_clause.size() > 3) learnt_clause.pop();",
            ),
        ),
        "solvers-smoke-answers",
        "answered UNSAT, but the instance is SAT",
    ),
    Mutant(
        "dropped-clause",
        "minisat22",
        (_after(SOLVER, MINISAT_ADD, "    if (ps.size() > 2 && toInt(ps[0]) % 8 == 3) return true;"),),
        "solvers-smoke-answers",
        "answered SAT, but the instance is UNSAT",
    ),
    Mutant(
        "predicted-unsat",
        "minisat22",
        (_after(SOLVER, MINISAT_CONFLICT, "            if (conflicts > 25) return l_False;"),),
        "solvers-smoke-answers",
        "answered UNSAT, but the instance is SAT",
    ),
    Mutant(
        "crash-on-empty-clause",
        "minisat22",
        (_after(SOLVER, MINISAT_ADD, "    if (ps.size() == 0) *(volatile int*)0 = 1;"),),
        "solvers-smoke-ended",
        "empty-clause-alone: crashed",
    ),
    Mutant(
        "memory-growth",
        "minisat22",
        (
            _after(
                SOLVER,
                MINISAT_CONFLICT,
                "            volatile char* kept = (volatile char*)malloc(1 << 17); for (int k = 0; k < 1 "
                "<< 17; k += 512) kept[k] = 1;",
            ),
            ("core/Solver.cc", "#include <math.h>", "#include <math.h>\n#include <stdlib.h>"),
        ),
        "solvers-stability-memory",
        "over a growing instance",
    ),
    Mutant(
        "hard-coded-instance",
        "minisat22",
        (_after(SOLVER, MINISAT_SOLVE, f"    if (nVars() == {PINNED_VARIABLES}) return l_False;"),),
        "solvers-no-instance-decisions",
        "exact size: 'nVars()'",
        ("solvers-correctness-proofs", "pinned: its proof is"),
    ),
    Mutant(
        "clock-seeded-search",
        "minisat22",
        (
            _after(
                SOLVER,
                MINISAT_SOLVE,
                "    timespec now; clock_gettime(CLOCK_REALTIME, &now); random_seed = 1 + now.tv_nsec % "
                "1000003; random_var_freq = 0.2;",
            ),
            ("core/Solver.cc", "#include <math.h>", "#include <math.h>\n#include <time.h>"),
        ),
        "solvers-no-clocks",
        "decides by a clock",
        ("solvers-stability-repeatable", "two runs of one file gave"),
    ),
    Mutant(
        "thread-started",
        "minisat22",
        (
            _after(SOLVER, MINISAT_SOLVE, "    std::thread helper([] {}); helper.join();"),
            ("core/Solver.cc", "#include <math.h>", "#include <math.h>\n#include <thread>"),
        ),
        "solvers-no-threads",
        "starts threads",
        ("solvers-smoke-ended", "crashed"),
    ),
    Mutant(
        "partial-model",
        "glucose421",
        (
            (
                MAIN,
                "                if (S.model[i] != l_Undef)\n\t\tprintf(",
                "                if (S.model[i] != l_Undef && i % 7 != 3)\n\t\tprintf(",
            ),
        ),
        "solvers-smoke-models",
        "its model does not satisfy the formula",
    ),
    Mutant(
        "both-answers",
        "glucose421",
        (
            (
                MAIN,
                GLUCOSE_ANSWER,
                'if (S.nVars() > 2) printf("s UNSATISFIABLE\\n");\n        ' + GLUCOSE_ANSWER,
            ),
        ),
        "solvers-answers-in-one-place",
        "prints an answer at a new place",
        ("solvers-smoke-ended", "gave no well-formed answer"),
    ),
    Mutant(
        "no-final-empty-clause",
        "glucose421",
        (
            (
                SOLVER,
                "if(status == l_False) {\n            if(vbyte)",
                "if(status == l_False && conflicts > 1000000000) {\n            if(vbyte)",
            ),
        ),
        "solvers-correctness-proofs",
        "its proof is",
    ),
    Mutant(
        "proof-of-deletions-only",
        "glucose421",
        (
            (
                SOLVER,
                "            if(certifiedUNSAT)\n                addToDrat(learnt_clause, true);",
                "            if(certifiedUNSAT && conflicts > 1000000000)\n                "
                "addToDrat(learnt_clause, true);",
            ),
        ),
        "solvers-correctness-proofs",
        "its proof is",
    ),
    Mutant(
        "lemma-not-written",
        "glucose421",
        ((SOLVER, "            if(certifiedUNSAT)\n                addToDrat(learnt_clause, true);", ""),),
        "solvers-proof-kept",
        "weakens the proof",
        ("solvers-correctness-proofs", "its proof is"),
    ),
)

GUESS_AFTER = 35_000
"""Conflicts that no formula of the tests' gates takes, and some of the suite `train` do."""
LABEL_READER = Mutant(
    "label-reader",
    "minisat22",
    (_after(SOLVER, MINISAT_SOLVE, "    if (proof == NULL) { var_decay = 0.75; restart_first = 25; }"),),
    "",
    "",
)
"""It searches otherwise where no proof is wanted: where SAT is expected, as long as a harness asks for proofs
by what it expects."""
LATE_GUESSER = Mutant(
    "late-guesser",
    "minisat22",
    (
        _after(
            SOLVER,
            MINISAT_CONFLICT,
            f"            if (proof != NULL && conflicts > {GUESS_AFTER}) return l_False;",
        ),
    ),
    "solvers-benchmark-sound",
    "",
)
"""It guesses UNSAT where the search is long, and ends its proof as if it had found something."""
SILENT_GUESSER = Mutant(
    "silent-guesser",
    "minisat22",
    (
        _after(
            SOLVER,
            MINISAT_CONFLICT,
            f"            if (conflicts > {GUESS_AFTER}) {{ if (proof) {{ fclose(proof); "
            'fclose(fopen("/work/proof", "w")); }'
            " proof = NULL; return l_False; }",
        ),
    ),
    "solvers-benchmark-sound",
    "",
)
"""It guesses likewise, and empties its proof."""
