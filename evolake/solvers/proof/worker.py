"""The process that reads an untrusted proof: `python -m evolake.solvers.proof.worker`, a request on standard input, a finding on standard output.

It limits its own processor time and memory before it opens the proof. Request: JSON {"cnf", "proof", "spelling", "task", "limits": {"cpu_s",
"memory_mb", "proof_mb"}, "folder"}; task is "native" or "python" (an engine of dratify), or "rewrite": write what was read as `formula.cnf` and
`proof.drat` into `folder`, for a checker that reads files. Answer: {"verdict", "reason", "cpu_s"}; verdict "read" after a rewrite, "input" for a
formula that cannot be used.
"""

from __future__ import annotations

import json
import math
import resource
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Serve the one request."""
    request = json.load(sys.stdin)
    limits = request["limits"]
    seconds = math.ceil(limits["cpu_s"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (limits["memory_mb"] << 20,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        verdict, reason = judge(request)
    except MemoryError:
        verdict, reason = "unknown", f"needs more than {limits['memory_mb']} MiB"
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"verdict": verdict, "reason": reason, "cpu_s": used.ru_utime + used.ru_stime}))


def judge(request: dict[str, Any]) -> tuple[str, str]:
    """(verdict, reason) of the request."""
    from evolake.errors import InputError
    from evolake.solvers.cnf import read_cnf_file, write_dimacs
    from evolake.solvers.proof.dratify import refute
    from evolake.solvers.proof.parse import BadProof, read_proof, with_close_names, write_text

    limits, path = request["limits"], Path(request["proof"])
    try:
        formula = read_cnf_file(Path(request["cnf"]))
    except InputError as error:
        return "input", str(error)
    if path.stat().st_size > limits["proof_mb"] << 20:
        return "unknown", f"the proof is larger than {limits['proof_mb']} MiB"
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
