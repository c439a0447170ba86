"""Proof checking: the default checker beside drat-trim where that is on PATH, on the same proofs: `python benchmarks/proof_check.py [--json]`.

The proofs come from solvers inside the package python-sat: random 3-SAT beyond its threshold and pigeons in too few holes. Both checkers get the same
files, and their verdicts must agree. Time is processor time, reading of the proof included.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tests_folder  # noqa: F401  (before what lies there)
from proof_kit import dimacs, pigeons

from evolake.solvers.formula.cnf import Formula, formula_of, write_dimacs
from evolake.solvers.proof import ProofLimits
from evolake.solvers.proof.checkers import CHECKERS

LIMITS = ProofLimits(cpu_s=300)


def random_formula(variables: int, clauses: int, seed: int) -> Formula:
    """Three different variables a clause, signs at random."""
    rng = np.random.default_rng(seed)
    rows = [((rng.choice(variables, 3, replace=False) + 1) * rng.choice([-1, 1], 3)).tolist() for _ in range(clauses)]
    return formula_of(variables, rows)


def instances() -> dict[str, bytes]:
    random = {f"random 3-SAT, {n} variables": write_dimacs(random_formula(n, int(4.6 * n), n)) for n in (150, 200, 230)}
    return random | {f"{holes + 1} pigeons": dimacs(pigeons(holes)) for holes in (7, 8)}


def proof_of(cnf: bytes) -> bytes:
    """A proof by glucose of an unsatisfiable formula."""
    from pysat.formula import CNF
    from pysat.solvers import Solver

    with Solver(name="glucose4", bootstrap_with=CNF(from_string=cnf.decode()), with_proof=True) as solver:
        if solver.solve() is not False:
            raise ValueError("the formula is satisfiable, so there is no proof to check")
        return ("\n".join([*(line for line in solver.get_proof() or [] if line.strip() != "0"), "0"]) + "\n").encode()


def main() -> None:
    names = [name for name in ("dratify", "drat-trim") if CHECKERS[name].available()]
    rows = []
    with tempfile.TemporaryDirectory(prefix="evolake-bench-") as name:
        cnf, proof = Path(name) / "a.cnf", Path(name) / "a.drat"
        for title, data in instances().items():
            cnf.write_bytes(data)
            proof.write_bytes(proof_of(data))
            row: dict[str, object] = {"instance": title, "proof_mb": round(proof.stat().st_size / 2**20, 2)}
            for checker in names:
                began = time.monotonic()
                result = CHECKERS[checker].check(cnf, proof, LIMITS)
                row[checker] = {"verdict": result.verdict, "cpu_s": round(result.cpu_s, 2), "wall_s": round(time.monotonic() - began, 2)}
            rows.append(row)
    if "--json" in sys.argv:
        print(json.dumps({"checkers": names, "rows": rows}))
        return
    for row in rows:
        shown = ", ".join(f"{checker} {row[checker]['verdict']} {row[checker]['cpu_s']:.2f} s" for checker in names)  # type: ignore[index]
        ratio = ""
        if len(names) == 2:
            ratio = f", dratify / drat-trim {row['dratify']['cpu_s'] / max(row['drat-trim']['cpu_s'], 0.01):.1f}x"  # type: ignore[index]
        print(f"{row['instance']:<28} proof {row['proof_mb']:>6.2f} MiB: {shown}{ratio}")
    if "drat-trim" not in names:
        print("drat-trim is not on PATH: nothing to compare with")


if __name__ == "__main__":
    main()
