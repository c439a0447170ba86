"""Whether a proof holds: one checker's word, or that of two which share no code."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evolake.errors import InputError
from evolake.solvers.proof.checkers import CHECKERS, SECOND, checker_named
from evolake.solvers.proof.parse import ProofSpelling
from evolake.solvers.proof.verdict import ProofLimits, ProofVerdict


def check_proof(
    formula_path: Path,
    proof_path: Path,
    *,
    limits: ProofLimits = ProofLimits(),
    checker: str = "default",
    second: bool = False,
    spelling: ProofSpelling = "auto",
) -> ProofVerdict:
    """Judge a DRAT or LRAT proof, text or binary, against a formula; both files may be packed by gzip, xz,
    bzip2 or Zstandard.

    Args:
        checker: a name of `checkers.CHECKERS`, or "default".
        second: ask another, independent checker too if one that reads the proof's format is on PATH; the
            proof then is verified only if both say so.
        spelling: the proof's format if it is declared; see `reading` for the rule if it is not.

    Raises:
        InputError: the formula or the proof file cannot be read, or the checker is not there. MachineryError:
            a checker broke down.
    """
    if not proof_path.is_file():
        raise InputError(
            f"there is no proof at {proof_path}",
            wanted="a file with a DRAT or LRAT proof",
            got=_found(proof_path),
            do="check the path",
        )
    if not formula_path.is_file():
        raise InputError(
            f"there is no formula at {formula_path}",
            wanted="a DIMACS file",
            got=_found(formula_path),
            do="check the path",
        )
    with proof_path.open("rb") as file:
        sha = hashlib.file_digest(file, "sha256").hexdigest()
    first = checker_named(checker)
    finding = first.check(formula_path, proof_path, limits, spelling)
    name = finding.by or first.name
    if finding.verdict != "verified" or not second:
        return ProofVerdict(finding.verdict, finding.reason, name, finding.cpu_s, sha)
    others = (CHECKERS[name] for name in SECOND if name != first.name)
    other = next(
        (item for item in others if (finding.format or "drat") in item.formats and item.available()), None
    )
    if other is None:
        return ProofVerdict(finding.verdict, finding.reason, name, finding.cpu_s, sha)
    again = other.check(formula_path, proof_path, limits, spelling)
    cpu_s = finding.cpu_s + again.cpu_s
    if again.verdict != "verified":
        return ProofVerdict(again.verdict, again.reason, other.name, cpu_s, sha)
    return ProofVerdict(
        "verified", f"{finding.reason}; {again.reason}", f"{name} and {other.name}", cpu_s, sha
    )


def _found(path: Path) -> str:
    """Say what is at a path if no regular file is."""
    if path.is_dir():
        return "a folder"
    if path.exists():
        return "no regular file"
    return "nothing"
