"""Check proofs of unsatisfiability: an UNSAT answer is worth what a checker that shares no code with the
solver says of its proof.

    checking.check_proof(cnf, proof, limits=ProofLimits(cpu_s=60)).verdict        # "verified", "refuted", ...

`parse` and `lrat` read a proof strictly, `reading` decides which format it is, `dratify` and `backed` check
DRAT and `hints` LRAT, `worker` is the process in which all of that happens, `checkers` knows the other
programs. A worker starts for each proof, so importing this package loads nothing that only its supervisor
needs.
"""

from __future__ import annotations

from evolake.solvers.proof.verdict import ProofLimits, ProofVerdict, Verdict

__all__ = ["ProofLimits", "ProofVerdict", "Verdict"]
