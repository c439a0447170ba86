"""A proof is checked once: verdicts are kept by the content of formula and proof.

A deterministic solver writes the same proof whenever it meets a formula: in the correctness gate, the
benchmark, each pass of a duel and each cycle. The verdict follows from the two files and the checkers alone,
so it may be kept under their hashes and versions; one that rests on a limit ("unknown") is not. Repeated runs
of one formula end at the same moment: the second process waits for the verdict that the first is at.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import threading
from dataclasses import asdict
from pathlib import Path

from filelock import FileLock

from evolake.lake import disk
from evolake.solvers.proof import ProofLimits, ProofVerdict
from evolake.solvers.proof.checking import check_proof
from evolake.solvers.proof.native_check import identity
from evolake.solvers.proof.parse import ProofSpelling

VERSION = "3"
"""Version of what is kept; the checkers have separate versions."""
PACKAGES = ("dratify", "cdclkit-native")
LOCKS, LOCK_DIGITS = "locks", 3
"""A lock for each beginning of a key, so that their number is bounded; two proofs rarely share one."""


def check_once(
    formula: Path,
    proof: Path,
    *,
    limits: ProofLimits,
    second: bool,
    spelling: ProofSpelling,
    folder: Path | None,
) -> ProofVerdict:
    """Return the verdict of `check_proof`, from `folder` where an equal proof of an equal formula was decided
    before. None: always check.

    A kept verdict says how much processor time the check took when it was made. Raises what `check_proof`
    raises.
    """
    if folder is None:
        return check_proof(formula, proof, limits=limits, second=second, spelling=spelling)
    key = _key(formula, proof, second, spelling)
    path = folder / f"{key}.json"
    if path.is_file():
        return _kept(path)
    disk.make_folder(folder / LOCKS)
    with FileLock(folder / LOCKS / f"{key[:LOCK_DIGITS]}.lock", fallback_to_soft=False):
        if path.is_file():
            return _kept(path)
        verdict = check_proof(formula, proof, limits=limits, second=second, spelling=spelling)
        if verdict.verdict != "unknown":
            disk.write_atomic(
                path, json.dumps(asdict(verdict)).encode(), tag=f"{os.getpid()}-{threading.get_ident()}"
            )
        return verdict


def _kept(path: Path) -> ProofVerdict:
    return ProofVerdict(**json.loads(path.read_text(encoding="utf-8")))


@functools.cache
def checkers_version() -> str:
    """Return what identifies the default checkers: another one may decide otherwise."""
    return " ".join([identity(), *(importlib.metadata.version(name) for name in PACKAGES)])


def _key(formula: Path, proof: Path, second: bool, spelling: str) -> str:
    # The name has a part in what an undeclared format is taken for.
    parts = [VERSION, checkers_version(), str(second), spelling, "".join(proof.suffixes[-2:])]
    for path in (formula, proof):
        with path.open("rb") as file:
            parts.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()
