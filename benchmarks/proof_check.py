"""Cost of proof checking: `python benchmarks/proof_check.py [--json] [--solver CADICAL] [--large]`.

On the same proofs: evolake's checker, dratify (forward, every lemma) and drat-trim if it is on PATH or built
(`evolake proof tools`). Their verdicts must agree. Cpu seconds and peak memory are those of each checker's
process, reading of the proof included.

The proofs come from solvers inside the package python-sat, on random 3-SAT beyond its threshold and on
pigeons in too few holes; --large adds proofs of 10 to 30 MB. With a program of CaDiCaL (--solver) each
formula is also solved by it twice, once with a proof in DRAT and once in LRAT, and checking LRAT is compared
with solving.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from bench import SHORT, skip
from proof_kit import dimacs, pigeons

from evolake.jail import Limits
from evolake.jail.direct import DirectRun, run_direct
from evolake.reading.formula import Formula, formula_of, write_dimacs
from evolake.solvers.proof import ProofLimits
from evolake.solvers.proof.checking import CHECKERS
from evolake.solvers.proof.drat import ProofSpelling
from evolake.solvers.proof.native_check import find_program

LIMITS = ProofLimits(cpu_s=600, memory_mb=8192)
SMALL = ((200,), (7,)) if SHORT else ((200, 230), (7, 8))
LARGE, CADICALS = ((200, 230, 250, 260, 280, 300), (7, 8)), ((), (9,))
"""Variables of the random formulas, and holes of the pigeons. Those of CADICALS take Glucose too long."""
DRAT, LRAT = "drat-text", "lrat-binary"
Row = dict[str, Any]


def random_formula(variables: int, clauses: int, seed: int) -> Formula:
    """Three different variables a clause, signs at random."""
    rng = np.random.default_rng(seed)
    rows = [
        ((rng.choice(variables, 3, replace=False) + 1) * rng.choice([-1, 1], 3)).tolist()
        for _ in range(clauses)
    ]
    return formula_of(variables, rows)


def instances(sizes: tuple[tuple[int, ...], tuple[int, ...]]) -> dict[str, bytes]:
    random = {
        f"random 3-SAT, {n} variables": write_dimacs(random_formula(n, int(4.6 * n), n)) for n in sizes[0]
    }
    return random | {f"{holes + 1} pigeons": dimacs(pigeons(holes)) for holes in sizes[1]}


def proof_of(cnf: bytes) -> bytes:
    """Return a proof by glucose of an unsatisfiable formula."""
    from pysat.formula import CNF
    from pysat.solvers import Solver

    with Solver(name="glucose4", bootstrap_with=CNF(from_string=cnf.decode()), with_proof=True) as solver:
        if solver.solve() is not False:
            raise ValueError("the formula is satisfiable, so there is no proof to check")
        return (
            "\n".join([*(line for line in solver.get_proof() or [] if line.strip() != "0"), "0"]) + "\n"
        ).encode()


def solving(program: str, cnf: Path, proof: Path, *options: str) -> float:
    """Solve with CaDiCaL, which writes the proof. Returns its cpu seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "-q", str(cnf), str(proof), *options], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 20:
        raise SystemExit(
            f"{program} did not refute the formula: exit code {done.returncode}, "
            f"{done.stderr.decode()[-200:]}"
        )
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def checked(name: str, cnf: Path, proof: Path, spelling: ProofSpelling) -> Row:
    """Return what a checker says, its cpu seconds and MiB."""
    if name == "drat-trim":
        return drat_trim(cnf, proof)
    finding = CHECKERS[name].check(cnf, proof, LIMITS, spelling)
    return {
        "verdict": finding.verdict,
        "cpu_s": round(finding.cpu_s, 3),
        "peak_mb": round(finding.peak_mb, 1),
    }


def drat_trim(cnf: Path, proof: Path) -> Row:
    """drat-trim alone on the solver's file, without our reader before it."""
    path = find_program("drat-trim")
    assert path is not None
    inputs = {"a.cnf": cnf, "a.drat": proof}
    argv = [f"{{solver}}/{path.name}", "{work}/a.cnf", "{work}/a.drat", "-t", str(int(LIMITS.cpu_s))]
    limits = Limits(cpu_s=LIMITS.cpu_s, wall_s=LIMITS.clock_s, memory_mb=LIMITS.memory_mb, file_mb=0)
    outcome = run_direct(DirectRun(argv, path.parent, inputs), limits)
    verified = b"s VERIFIED" in outcome.stdout.replace(b"\r", b"\n").split(b"\n")
    return {
        "verdict": "verified" if verified else "unknown",
        "cpu_s": round(outcome.cpu_s, 3),
        "peak_mb": round(outcome.peak_mb, 1),
    }


def rows_of(title: str, data: bytes, names: list[str], solver: str | None, folder: Path) -> list[Row]:
    """Return a row for each proof of a formula."""
    cnf, proof = folder / "a.cnf", folder / "a.proof"
    cnf.write_bytes(data)
    rows: list[Row] = []
    if title not in instances(CADICALS):
        proof.write_bytes(proof_of(data))
        rows.append({"solver": "glucose", "format": "DRAT"} | measured(names, cnf, proof, DRAT))
    if solver:
        solve_s = solving(solver, cnf, proof, "--no-binary")
        rows.append(
            {"solver": "cadical", "format": "DRAT", "solve_s": round(solve_s, 2)}
            | measured(names, cnf, proof, DRAT)
        )
        solve_s = solving(solver, cnf, proof, "--lrat")
        rows.append(
            {"solver": "cadical", "format": "LRAT", "solve_s": round(solve_s, 2)}
            | measured(["evolake"], cnf, proof, LRAT)
        )
    return [{"instance": title} | row for row in rows]


def measured(names: list[str], cnf: Path, proof: Path, spelling: ProofSpelling) -> Row:
    row: Row = {"proof_mb": round(proof.stat().st_size / 2**20, 2)} | {
        name: checked(name, cnf, proof, spelling) for name in names
    }
    if {row[name]["verdict"] for name in names} != {"verified"}:
        raise SystemExit(f"not every checker verifies the proof: {row}")
    return row


def shown(row: Row) -> str:
    """One line of the table."""
    parts = [f"{row['instance']:<28} {row['solver']:<8} {row['format']} {row['proof_mb']:>6.2f} MiB"]
    parts += [
        f"{name} {row[name]['cpu_s']:.2f} s {row[name]['peak_mb']:.0f} MiB"
        for name in ("evolake", "dratify", "drat-trim")
        if name in row
    ]
    ours = row["evolake"]["cpu_s"]
    for other in ("dratify", "drat-trim"):
        if other in row:
            parts.append(f"{ours / max(row[other]['cpu_s'], 0.01):.2f} of {other}")
    if "solve_s" in row:
        parts.append(f"solving {row['solve_s']:.2f} s, checking {ours / max(row['solve_s'], 0.01):.2f} of it")
    return ", ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Cost of proof checking.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--large", action="store_true", help="proofs of 10 to 30 MB")
    parser.add_argument("--solver", help="a program of CaDiCaL 1.9 or later")
    given = parser.parse_args()
    names = [name for name in ("evolake", "dratify", "drat-trim") if CHECKERS[name].available()]
    if "evolake" not in names:
        skip("there is no C compiler, so evolake's own checker cannot be measured")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="evolake-bench-") as folder:
        chosen = instances(LARGE if given.large else SMALL)
        if given.large and given.solver:
            chosen |= instances(CADICALS)
        for title, data in chosen.items():
            for row in rows_of(title, data, names, given.solver, Path(folder)):
                rows.append(row)
                if not given.json:
                    print(shown(row), flush=True)
    if given.json:
        print(json.dumps({"checkers": names, "rows": rows}))
    elif "drat-trim" not in names:
        print("drat-trim is neither on PATH nor built: nothing to compare with")


if __name__ == "__main__":
    sys.exit(main())
