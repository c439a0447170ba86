"""Solve the formula on standard input by a solver of python-sat: a program that `confirm` runs in its own
process, so that it can be ended.

It prints the status and the cpu seconds of the search, and then the model if there is one.
"""

from __future__ import annotations

import resource
import sys


def main() -> None:
    """Run the solver that the command line names."""
    from pysat.solvers import Solver

    clauses = [[int(word) for word in line.split()[:-1]] for line in sys.stdin.readlines()[1:]]
    with Solver(sys.argv[1], bootstrap_with=clauses) as solver:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        answer = solver.solve()
        print("SAT" if answer else "UNSAT", resource.getrusage(resource.RUSAGE_SELF).ru_utime - before)
        print(*(solver.get_model() or []) if answer else [])


if __name__ == "__main__":
    main()
