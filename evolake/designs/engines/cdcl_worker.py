"""Solve formulas by a solver of python-sat: `python cdcl_worker.py SOLVER SECONDS < FORMULAS`.

The formulas are DIMACS, each with its header, one clause a line. Each is solved in a forked process, which
the kernel ends after so many processor seconds, reading the formula included. For each a line is printed:
SAT, UNSAT or none, conflicts, processor seconds of the search, and the assignment as 0 and 1.
"""

from __future__ import annotations

import os
import signal
import sys
import time


def solve(solver_name: str, seconds: float, text: str) -> str:
    """Return the line for a formula; the calling process may be ended by the kernel."""
    from pysat.solvers import Solver

    header, *lines = text.splitlines()
    variables = int(header.split()[0])
    signal.setitimer(signal.ITIMER_PROF, seconds)
    clauses = [[int(word) for word in line.split()[:-1]] for line in lines]
    began = time.process_time()
    with Solver(solver_name, bootstrap_with=clauses) as solver:
        satisfiable = solver.solve()
        spent = time.process_time() - began
        conflicts = (solver.accum_stats() or {}).get("conflicts", 0)
        true = {literal for literal in solver.get_model() or () if literal > 0} if satisfiable else set()
    model = "".join("01"[variable in true] for variable in range(1, variables + 1))
    return f"{'SAT' if satisfiable else 'UNSAT'} {conflicts} {spent} {model}"


def main() -> None:
    """Solve each formula of the standard input."""
    import pysat.solvers  # noqa: F401  # once, before the forks

    for text in sys.stdin.read().split("p cnf ")[1:]:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            print(solve(sys.argv[1], float(sys.argv[2]), text), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print("none 0", sys.argv[2], "-", flush=True)


if __name__ == "__main__":
    main()
