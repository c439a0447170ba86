"""Whether a proof holds: one checker's word, or that of two which share no code."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evolake.errors import InputError
from evolake.solvers.proof.checkers import CHECKERS, SECOND, checker_named
from evolake.solvers.proof.parse import ProofSpelling
from evolake.solvers.proof.verdict import ProofLimits, ProofVerdict


def check_proof(
    formula_path: Path, proof_path: Path, *, limits: ProofLimits = ProofLimits(), checker: str = "default", second: bool = False,
    spelling: ProofSpelling = "auto",
) -> ProofVerdict:
    """Judge a DRAT proof, text or binary, against a formula (.cnf, .cnf.gz or .cnf.xz).

    Args:
        checker: a name of `checkers.CHECKERS`, or "default".
        second: ask another, independent checker too where one is on PATH; the proof then is verified only if both say so.
        spelling: the proof's format where it is known.

    Raises:
        InputError: the formula or the proof file cannot be read, or the checker is not there. MachineryError: a checker broke down.
    """
    if not proof_path.is_file():
        raise InputError(f"there is no proof at {proof_path}", wanted="a file with a DRAT proof", do="check the path")
    if not formula_path.is_file():
        raise InputError(f"there is no formula at {formula_path}", wanted="a DIMACS file", do="check the path")
    with proof_path.open("rb") as file:
        sha = hashlib.file_digest(file, "sha256").hexdigest()
    chosen = [checker_named(checker)]
    if second and (others := [CHECKERS[name] for name in SECOND if name != chosen[0].name and CHECKERS[name].available()]):
        chosen.append(others[0])
    cpu_s, names, reasons = 0.0, [], []
    for item in chosen:
        finding = item.check(formula_path, proof_path, limits, spelling)
        cpu_s += finding.cpu_s
        names.append(item.name)
        reasons.append(finding.reason)
        if finding.verdict != "verified":
            return ProofVerdict(finding.verdict, finding.reason, item.name, cpu_s, sha)
    return ProofVerdict("verified", "; ".join(reasons), " and ".join(names), cpu_s, sha)
