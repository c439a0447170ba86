"""The process that reads an untrusted proof: `python -m evolake.solvers.proof.worker REQUEST`, in a jail with limits of its own.

It says READY once all that it needs is imported, and then one line: whatever goes wrong in between is the proof's doing. Request: JSON {"cnf",
"proof", "spelling", "task", "memory_mb", "proof_mb", "folder"}; task is "native" or "python" (an engine of dratify), or "rewrite": write what was
read as `formula.cnf` and `proof.drat` into `folder`, for a checker that reads files. Answer: {"verdict", "reason"}; verdict "read" after a rewrite,
"input" for a formula that cannot be used.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

READY = b"ready"


def main() -> None:
    """Serve the one request."""
    request = json.loads(sys.argv[1])
    if request["task"] == "native":
        import cdclkit_native  # noqa: F401
    elif request["task"] == "python":
        import dratify  # noqa: F401
    import evolake.solvers.formula.cnf
    import evolake.solvers.proof.dratify  # noqa: F401

    sys.stdout.buffer.write(READY + b"\n")
    sys.stdout.flush()
    try:
        verdict, reason = judge(request)
    except MemoryError:
        verdict, reason = "unknown", f"needs more than {request['memory_mb']} MiB"
    print(json.dumps({"verdict": verdict, "reason": reason}))


def judge(request: dict[str, Any]) -> tuple[str, str]:
    """(verdict, reason) of the request."""
    from evolake.errors import InputError
    from evolake.solvers.formula.cnf import read_cnf_file, write_dimacs
    from evolake.solvers.proof.dratify import refute
    from evolake.solvers.proof.parse import BadProof, read_proof, with_close_names, write_text

    path = Path(request["proof"])
    try:
        formula = read_cnf_file(Path(request["cnf"]))
    except InputError as error:
        return "input", str(error)
    if path.stat().st_size > request["proof_mb"] << 20:
        return "unknown", f"the proof is larger than {request['proof_mb']} MiB"
    try:
        proof = read_proof(path.read_bytes(), request["spelling"])
    except BadProof as error:
        return "refuted", f"not a proof: {error}"
    if (formula.starts[1:] == formula.starts[:-1]).any():
        return "verified", "the formula holds the empty clause"
    if proof.first_empty is None:
        return "refuted", "the proof never derives the empty clause"
    if request["task"] == "rewrite":
        folder = Path(request["folder"])
        (folder / "formula.cnf").write_bytes(write_dimacs(formula))
        (folder / "proof.drat").write_bytes(write_text(with_close_names(proof, formula.variables)))
        return "read", ""
    try:
        ok, reason = refute(formula, proof, request["task"])
    except (ValueError, OverflowError) as error:
        return "refuted", f"the checker does not take it: {error}"
    return ("verified" if ok else "refuted"), reason


if __name__ == "__main__":
    main()
