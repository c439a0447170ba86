"""The process that reads an untrusted proof: `python -m evolake.solvers.proof.worker REQUEST`, in a jail with
its own limits.

It says READY once all that it needs is imported, and then one line: whatever goes wrong in between is the
proof's doing. Request: JSON {"cnf", "proof", "names", "spelling", "task", "memory_mb", "proof_mb", "folder"};
names are those of the user's two files. task is "native" or "python" (an engine of dratify, for DRAT), or
"rewrite": write what was read as `formula.cnf` and `proof` into `folder`, for a checker that reads files.
Answer: {"verdict", "reason", "format"}; verdict "read" after a rewrite, "input" for a formula that cannot be
used, whose reason is the error as JSON; format is "drat", "lrat", or "" if the proof was not read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evolake.reading.formula import Formula
    from evolake.solvers.proof.drat import Proof
    from evolake.solvers.proof.lrat import LratProof

READY = b"ready"


def main() -> None:
    """Serve the one request."""
    request = json.loads(sys.argv[1])
    if request["task"] == "native":
        import cdclkit_native  # noqa: F401
    elif request["task"] == "python":
        import dratify  # noqa: F401

    sys.stdout.buffer.write(READY + b"\n")
    sys.stdout.flush()
    try:
        verdict, reason, format_ = judge(request)
    except MemoryError:
        verdict, reason, format_ = "unknown", f"needs more than {request['memory_mb']} MiB", ""
    print(json.dumps({"verdict": verdict, "reason": reason, "format": format_}))


def judge(request: dict[str, Any]) -> tuple[str, str, str]:
    """Return (verdict, reason, format) of the request."""
    from evolake.errors import InputError
    from evolake.reading import Bomb, Damaged
    from evolake.reading.formula import read_cnf_file, unpacked
    from evolake.solvers.proof.drat import BadProof, OtherFormat
    from evolake.solvers.proof.lrat import LratProof, read_any

    names, path, most = request["names"], Path(request["proof"]), request["proof_mb"] << 20
    try:
        formula = read_cnf_file(Path(request["cnf"]), name=names["cnf"])
    except InputError as error:
        return "input", json.dumps(error.to_json()), ""
    if path.stat().st_size > most:
        return "unknown", f"the proof is larger than {request['proof_mb']} MiB", ""
    try:
        data = unpacked(path.read_bytes(), Path(names["proof"]).suffix, most, "the proof")
        proof = read_any(data, request["spelling"], names["proof"])
    except Bomb as error:
        return "unknown", f"{error.what}: wanted {error.wanted}, got {error.got}", ""
    except Damaged as error:
        return "malformed", f"it cannot be read: {error.got}, wanted {error.wanted}", ""
    except BadProof as error:
        return (
            "unsupported" if isinstance(error, OtherFormat) else "malformed",
            f"it cannot be read: {error}",
            "",
        )
    kind = "lrat" if isinstance(proof, LratProof) else "drat"
    if (formula.starts[1:] == formula.starts[:-1]).any():
        return "verified", "the formula holds the empty clause", kind
    if proof.first_empty is None:
        return "incomplete", "the proof never derives the empty clause", kind
    return *_checked(formula, proof, request), kind


def _checked(formula: Formula, proof: Proof | LratProof, request: dict[str, Any]) -> tuple[str, str]:
    """(verdict, reason) of a proof that was read; after the task "rewrite" it is written and not checked."""
    from evolake.reading.formula import write_dimacs
    from evolake.solvers.proof.drat import refute, with_close_names, write_text
    from evolake.solvers.proof.lrat import LratProof, refute_by_hints, write_lrat_text

    lrat = isinstance(proof, LratProof)
    if request["task"] == "rewrite":
        folder = Path(request["folder"])
        (folder / "formula.cnf").write_bytes(write_dimacs(formula))
        (folder / "proof").write_bytes(
            write_lrat_text(proof) if lrat else write_text(with_close_names(proof, formula.variables))
        )
        return "read", ""
    if lrat:
        ok, reason = refute_by_hints(formula, proof)
        return ("verified" if ok else "refuted"), reason
    try:
        ok, reason = refute(formula, proof, request["task"])
    except (ValueError, OverflowError) as error:
        return "unsupported", f"the checker does not take it: {error}"
    return ("verified" if ok else "refuted"), reason


if __name__ == "__main__":
    main()
