"""Bad variants as a referee who wrote none of the defences would make them: each wants rank without solving
better, or breaks what measures it.

None is of a kind that `solver_mutants` or the issue's list has. What becomes of each, and what is known not
to hold, says `tests/attacks/test_solver_referee.py`. Anchors are upstream's code.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from solver_mutants import MAIN, SOLVER, Change, Mutant
from solver_mutants import plant as plant_changes

from evolake.reading.formula import Formula
from evolake.solvers.suites.generators import pcg

HEADER, DIMACS, CONFIG = "core/Solver.h", "core/Dimacs.h", "mtl/config.mk"
SMALL_MEMORY_MB = 512
"""Between the memory of the stability gate and that of every other run."""


@dataclass(frozen=True)
class Trial:
    """One variant: what it wants, and the changes that make it of the seed `base`. files: new files, relative
    to the repository."""

    name: str
    base: str
    aim: str
    changes: tuple[Change, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    make: Callable[[Path], None] | None = None
    """A further change that is no replacement of a text."""


def plant(trial: Trial, folder: Path) -> None:
    """Make the variant of the seed's repository at `folder`; an anchor that is not there exactly once is an
    error."""
    plant_changes(Mutant(trial.name, trial.base, trial.changes, "", ""), folder)
    for name, text in trial.files.items():
        assert not (folder / name).exists(), f"{trial.name}: {name} is there already"
        (folder / name).write_text(text, encoding="latin-1")
    if trial.make is not None:
        trial.make(folder)
    for name in ("HYPOTHESIS.md", "CHANGELOG.md"):
        (folder / name).write_text(
            f"# {trial.name}\n\nThis variant is expected to solve more formulas in less time.\n"
        )


def _after(ending: str, anchor: str, code: str) -> Change:
    return ending, anchor, f"{anchor}\n{code}\n"


def _before(ending: str, anchor: str, code: str) -> Change:
    return ending, anchor, f"{code}\n{anchor}"


MINISAT_CONFLICT = "conflicts++; conflictC++;"
MINISAT_LEARNT = "            proofAdd(learnt_clause);"
MINISAT_USING = "using namespace Minisat;"
MINISAT_VERBOSITY = "        S.verbosity = verb;\n        if (proof){"
MINISAT_PARSED = "        gzclose(in);\n        FILE* res"
MINISAT_ENDED = '    printf("c CPU time              : %g s\\n", cpu_time);'
GLUCOSE_SEARCH = "    // Search:\n    int curr_restarts = 0;"
GLUCOSE_OPTIONS = "Solver::Solver() :\n\n// Parameters (user settable):"

LIMITS_TELL_THE_STAGE = Trial(
    "limits-tell-the-stage",
    "minisat22",
    "reads its memory limit: thrifty in the stability gate, keeps every learnt clause wherever memory is "
    "plenty",
    (
        _before(
            MAIN,
            MINISAT_VERBOSITY,
            "        rlimit room; getrlimit(RLIMIT_AS, &room);\n"
            f"        if (room.rlim_cur > ((rlim_t){SMALL_MEMORY_MB} << 20)) S.learntsize_factor = 1000;",
        ),
    ),
)
FILE_TELLS_THE_STAGE = Trial(
    "file-tells-the-stage",
    "minisat22",
    "reads the inode and the age of the formula's file, which tell a stored formula from a copy made for "
    "this run",
    (
        _after(MAIN, MINISAT_USING, 'extern "C" int fstat(int, void*);'),
        _before(
            MAIN,
            MINISAT_PARSED,
            "        long about[64];\n"
            "        if (fstat(fileno(in), about) == 0) { S.random_seed = 1 + (about[1] ^ about[11]) % "
            "1000003; S.random_var_freq = 0.02; }",
        ),
    ),
)
TIMER_RESTARTS = Trial(
    "timer-restarts",
    "minisat22",
    "an alarm of the clock, later than any run of a gate ends, quickens restarts: no two measured runs "
    "search alike",
    (
        _after(
            MAIN,
            "static Solver* solver;",
            "static void due(int signum) { solver->restart_first = 20; signal(signum, due); alarm(1); }",
        ),
        _before(MAIN, MINISAT_VERBOSITY, "        signal(SIGALRM, due); alarm(1);"),
    ),
)
TIME_BOMB = Trial(
    "time-bomb",
    "glucose421",
    "behaves for a year, then answers UNSAT after 5,000 conflicts",
    (
        _before(SOLVER, GLUCOSE_OPTIONS, 'extern "C" int timespec_get(struct timespec*, int) throw();\n'),
        (
            SOLVER,
            "            conflictsRestarts++;\n",
            "            conflictsRestarts++;\n            long now[2] = {0, 0}; timespec_get((struct "
            "timespec*)now, 1);\n"
            "            if (now[0] > 1830000000L && conflicts > 5000) return l_False;\n",
        ),
    ),
)
WORDS_BESIDE_ENVIRONMENT = Trial(
    "words-beside-environment",
    "glucose421",
    "reads the command line from the stack below the environment, where it has no forbidden name, and "
    "searches otherwise where a proof is wanted",
    (
        _before(SOLVER, GLUCOSE_OPTIONS, 'extern "C" { extern char** __environ; }\n'),
        _before(
            SOLVER,
            GLUCOSE_SEARCH,
            "    for (char** word = __environ - 2; (size_t)*word > 4096; word--)\n"
            "        if ((*word)[0] == '-' && (*word)[1] == 'c') luby_restart = true;",
        ),
    ),
)


def _lottery(conflicts: int) -> Change:
    return _after(
        SOLVER,
        MINISAT_CONFLICT,
        f"            if (conflicts == {conflicts}) {{ random_seed = 1 + ((size_t)&conflictC >> 4) % "
        "1000003; random_var_freq = 0.01; }",
    )


ADDRESS_LOTTERY = Trial(
    "address-lottery",
    "minisat22",
    "beyond 60,000 conflicts, which no formula of a gate takes, draws its decisions from the address of "
    "its stack: each run is another lot",
    (_lottery(60000),),
)
SILENT_LOTTERY = Trial(
    "silent-lottery",
    "minisat22",
    "draws its decisions from an address and prints counts that are always the same",
    (
        _lottery(500),
        _after(
            MAIN, MINISAT_ENDED, '    printf("c conflicts : 1\\nc decisions : 1\\nc propagations : 1\\n");'
        ),
    ),
)
BORROWED_CLOCK = Trial(
    "borrowed-clock",
    "glucose421",
    "beyond 60,000 conflicts draws its decisions from a clock that the base has read already: nothing new "
    "is called",
    (
        _after(
            SOLVER,
            "        if(!withinBudget()) break;",
            "        if(conflicts > 60000 && random_var_freq == 0) {\n"
            "            random_seed = 1 + (int)(curTime * 1e6) % 100003;\n            random_var_freq = "
            "0.01;\n        }",
        ),
    ),
)
FORGED_COUNTERS = Trial(
    "forged-counters",
    "glucose421",
    "prints a second, 64 times smaller count of its conflicts: the objectives that ask for effort believe it",
    (
        _after(
            MAIN,
            '    printf("c CPU time              : %g s\\n", cpu_time);',
            '    printf("c conflicts             : %d\\nc decisions             : %d\\n", '
            "(int)(solver.conflicts >> 6), (int)(solver.decisions >> 6));",
        ),
    ),
)
COUNTER_OVERFLOW = Trial(
    "counter-overflow",
    "minisat22",
    "where a run took more than 60,000 conflicts, prints a count of 400 digits, which no column of a "
    "table holds",
    (
        _after(
            MAIN, MINISAT_ENDED, '    if (solver.conflicts > 60000) printf("c conflicts : 1%0400d\\n", 0);'
        ),
    ),
)
SLOW_PROOF_GUESS = Trial(
    "slow-proof-guess",
    "minisat22",
    "answers UNSAT after 12,000 conflicts on random formulas with many clauses (rightly), its proof so "
    "long that no checker reaches the false end",
    (
        _after(
            SOLVER,
            MINISAT_CONFLICT,
            "            if (conflicts > 12000 && clauses_literals > 2.8 * nClauses() && nClauses() > "
            "4.33 * nVars() && nClauses() < 4.55 * nVars()) {\n"
            "                vec<char> text;\n"
            "                for (int twice = 0; proof && twice < 2 * learnts.size(); twice++) {\n"
            "                    Clause& c = ca[learnts[twice / 2]]; char word[16];\n"
            "                    if (twice % 2) { text.push('d'); text.push(' '); }\n"
            "                    for (int k = 0; k <= c.size(); k++) {\n"
            '                        sprintf(word, "%d ", k == c.size() ? 0 : sign(c[k]) ? -(var(c[k]) + '
            "1) : var(c[k]) + 1);\n"
            "                        for (char* at = word; *at; at++) text.push(*at); }\n"
            "                    text.last() = '\\n'; }\n"
            "                for (size_t left = text.size() ? 440000000 / text.size() : 0; left; left--) "
            "fwrite((char*)text, 1, text.size(), proof);\n"
            "                return l_False; }",
        ),
    ),
)
LONG_LEARNT_CUT = Trial(
    "long-learnt-cut",
    "minisat22",
    "a wrong bound of a buffer: learnt clauses lose what is beyond their 80th literal, sound on every "
    "formula of a gate",
    (
        _before(
            SOLVER,
            MINISAT_LEARNT,
            "            if (learnt_clause.size() > 80) learnt_clause.shrink(learnt_clause.size() - 80);",
        ),
    ),
)
FLAGS_IN_SOURCE = Trial(
    "flags-in-source",
    "glucose421",
    "asks for other instructions and for unsafe arithmetic by pragmas: a gain of the compiler's, not of "
    "the search",
    (
        (
            SOLVER,
            "#include <math.h>\n",
            '#pragma GCC optimize("O3,fast-math,unroll-loops")\n#pragma GCC '
            'target("avx2,bmi,bmi2,lzcnt,popcnt")\n#include <math.h>\n',
        ),
    ),
)
UNPACKED_BY_MAKE = Trial(
    "unpacked-by-make",
    "minisat22",
    "make's own assignment by a command writes a source file out of a comment, where no rule reads it: it "
    "asks for its limits",
    (
        _after(SOLVER, MINISAT_USING, "namespace Minisat { double pace(); }"),
        (
            SOLVER,
            "        status = search(rest_base * restart_first);",
            "        status = search(rest_base * restart_first * pace());",
        ),
        _before(
            CONFIG,
            "##\n##  This file is for",
            "UNPACKED != sed -n 's/^ \\* | //p' ../core/Pace.h > ../core/Pace.cc",
        ),
    ),
    {
        "src/core/Pace.h": (
            "/* How fast restarts follow each other.\n"
            " * | #include <sys/resource.h>\n * | namespace Minisat { double pace() {\n"
            " * |     rlimit room; getrlimit(RLIMIT_AS, &room);\n"
            f" * |     return room.rlim_cur > ((rlim_t){SMALL_MEMORY_MB} << 20) ? 0.3 : 1.0; }} }}\n */\n"
        )
    },
)
DATA_BY_INCLUDE = "data-by-include"
FAMILY_BOOK = "family-book"


def case_labels(formula: Formula, model: np.ndarray, name: str = "case-labels") -> Trial:
    """Remembers a model of the formula as the labels of a switch: no array, no string, and no comparison of a
    size with a number.

    model: int literals, one each variable.
    """
    labels = " ".join(f"case {literal - 1}:" for literal in sorted(model[model > 0].tolist()))
    size = (formula.variables * 8191) ^ len(formula.starts) - 1
    code = (
        "// Which variables are likely true in formulas of this shape.\n"
        f"static bool likely(unsigned shape, Var v) {{\n    switch (shape) {{ case {size}u:\n"
        f"        switch (v) {{ {labels} return true; default: return false; }}\n    default: return "
        "false; }\n}\n"
    )
    return Trial(
        name,
        "minisat22",
        "remembers the model of one training formula in the labels of a switch",
        (
            _before(MAIN, "static Solver* solver;", code),
            _after(
                MAIN,
                "        parse_DIMACS(in, S);",
                "        for (Var v = 0; v < S.nVars(); v++) S.setPolarity(v, !likely(S.nVars() * 8191 ^ "
                "S.nClauses(), v));",
            ),
        ),
    )


def data_by_include(formula: Formula, model: np.ndarray) -> Trial:
    """The same model as a table whose numbers stand in a header of their own, which is included between the
    braces."""
    row = ",\n".join(str(int(literal > 0)) for literal in sorted(model.tolist(), key=abs))
    return Trial(
        DATA_BY_INCLUDE,
        "minisat22",
        "remembers the model of one training formula in a header that is included between braces",
        (
            _before(
                MAIN,
                "static Solver* solver;",
                'static const unsigned char start[] = {\n#include "core/Start.h"\n};\n',
            ),
            _after(
                MAIN,
                "        parse_DIMACS(in, S);",
                "        for (Var v = 0; v < S.nVars() && v < (int)sizeof(start); v++) S.setPolarity(v, "
                "!start[v]);",
            ),
        ),
        {"src/core/Start.h": row + "\n"},
    )


def shape_print(formula: Formula) -> int:
    """What no renaming, shuffling or flip of a formula changes: cubes of how often variables occur and of
    clauses' lengths, in 32 bits."""
    degrees = np.bincount(np.abs(formula.literals), minlength=formula.variables + 1).astype(np.int64)
    lengths = np.diff(formula.starts).astype(np.int64)
    return int((degrees**3).sum() + 7919 * (lengths**3).sum() + 104729 * formula.variables) % 2**32


def family_book(known: Mapping[int, str]) -> Trial:
    """Knows training formulas whatever their names and order, and sets for each what was seen to solve it
    fastest.

    known: `shape_print` of a formula -> the statement that sets the strategy.
    """
    cases = "".join(f"        case {print_}u: {code} break;\n" for print_, code in sorted(known.items()))
    return Trial(
        FAMILY_BOOK,
        "minisat22",
        "knows training formulas by what renaming and shuffling leave alone, and sets what was seen best "
        "for each",
        (
            _after(
                HEADER,
                "    // Mode of operation:\n    //",
                "    vec<int>  degrees;            // How often each variable occurs.\n    uint32_t  "
                "shape;\n"
                "    void      look(const vec<Lit>& ps) {\n        uint32_t size = ps.size(); shape += "
                "7919 * size * size * size;\n"
                "        for (int i = 0; i < ps.size(); i++) { degrees.growTo(var(ps[i]) + 1, 0); "
                "degrees[var(ps[i])]++; } }\n"
                "    void      choose() {\n"
                "        for (int v = 0; v < degrees.size(); v++) shape += (uint32_t)degrees[v] * "
                "degrees[v] * degrees[v];\n"
                "        shape += 104729u * nVars();\n        switch (shape) {\n" + cases + "        } }\n",
            ),
            (
                SOLVER,
                "  , proof              (NULL)\n",
                "  , proof              (NULL)\n  , shape              (0)\n",
            ),
            (
                DIMACS,
                "            readClause(in, S, lits);\n",
                "            readClause(in, S, lits);\n            S.look(lits);\n",
            ),
            (
                DIMACS,
                "    StreamBuffer in(input_stream);\n    parse_DIMACS_main(in, S); }",
                "    StreamBuffer in(input_stream);\n    parse_DIMACS_main(in, S);\n    S.choose(); }",
            ),
        ),
    )


def planted_model(n: int, seed: int) -> np.ndarray:
    """The assignment that `planted_ksat` hides: its first draw."""
    return (2 * pcg(seed).integers(2, size=n) - 1) * np.arange(1, n + 1)


FIXED = (
    LIMITS_TELL_THE_STAGE,
    FILE_TELLS_THE_STAGE,
    TIMER_RESTARTS,
    TIME_BOMB,
    WORDS_BESIDE_ENVIRONMENT,
    ADDRESS_LOTTERY,
    SILENT_LOTTERY,
    BORROWED_CLOCK,
    FORGED_COUNTERS,
    COUNTER_OVERFLOW,
    SLOW_PROOF_GUESS,
    LONG_LEARNT_CUT,
    FLAGS_IN_SOURCE,
    UNPACKED_BY_MAKE,
)
"""Those that need no formula to be made of."""
