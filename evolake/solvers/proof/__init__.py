"""Check proofs of unsatisfiability: an UNSAT answer is worth what a checker that shares no code with the
solver says of its proof. Here is the vocabulary.

    checking.check_proof(cnf, proof, limits=ProofLimits(cpu_s=60)).verdict        # "verified", "refuted", ...

`drat` and `lrat` read a proof strictly and check it, `worker` is the process in which that happens, `asking`
asks it, `native_check` and `checking` know the other programs. A worker starts for each proof, so importing
this package loads nothing that only its supervisor needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from evolake.solvers.proof.drat import ProofSpelling

Verdict = Literal["verified", "refuted", "incomplete", "malformed", "unsupported", "unknown"]
"""verified: the proof was read and shows that the formula is unsatisfiable. refuted: it was read, and a step
that the refutation needs does not follow. incomplete: it was read and never derives the empty clause.
malformed: it cannot be read to its end: damaged, cut short, or with something in it that is no step.
unsupported: it is of another format. unknown: the checker could not decide within its limits. Only a verified
proof makes an UNSAT answer one."""
ProofFormat = Literal["", "drat", "lrat"]


@dataclass(frozen=True)
class ProofLimits:
    """cpu_s, memory_mb: of the checker's process. proof_mb: MiB of the largest proof that is read at all.
    wall_s: None means four times cpu_s."""

    cpu_s: float = 200.0
    memory_mb: int = 4096
    proof_mb: int = 1024
    wall_s: float | None = None

    @property
    def clock_s(self) -> float:
        """Return the limit on wall time, seconds."""
        return self.wall_s if self.wall_s is not None else 4 * self.cpu_s + 10


@dataclass(frozen=True)
class ProofVerdict:
    """reason: one line. checker: who said so; names joined by " and " where two did. cpu_s: seconds of
    processor time of all of it. proof_sha: sha256 of the proof file, "" when it could not be read."""

    verdict: Verdict
    reason: str
    checker: str
    cpu_s: float
    proof_sha: str


@dataclass(frozen=True)
class Finding:
    """What one checker found. format: of the proof; "" if it was not read. by: who checked it, if not the
    checker that was asked. peak_mb: most memory that one of its processes took, in MiB; 0 if it was not
    measured."""

    verdict: Verdict
    reason: str
    cpu_s: float
    format: ProofFormat = ""
    by: str = ""
    peak_mb: float = 0.0


class ProofChecker(Protocol):
    """One way to check a proof. The conformance kit (`tests/proof_kit.py`) holds every available one to the
    same verdicts."""

    name: str

    @property
    def formats(self) -> tuple[ProofFormat, ...]:
        """The formats of proofs that it can check."""
        ...

    def available(self) -> bool:
        """Return whether it can be used on this machine."""
        ...

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        """Judge the proof file against the formula's file. Raises InputError when the formula cannot be read,
        MachineryError for a broken set-up."""
        ...


__all__ = ["ProofLimits", "ProofVerdict", "Verdict"]
