"""Ask the worker that reads proofs (`worker`), in a jail, and read its answer."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from evolake.errors import InputError, MachineryError
from evolake.jail import Limits, NativeOutcome
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.identity import interpreter
from evolake.jail.protocol import one_line
from evolake.solvers.proof import Finding, ProofFormat, ProofLimits, Verdict
from evolake.solvers.proof.drat import Engine, ProofSpelling
from evolake.solvers.proof.worker import READY

REWRITTEN_MB = 4096
"""Largest file that the worker writes again: a binary proof grows to about three times its size as text."""
LONGEST_ANSWER = 100_000


@dataclass(frozen=True)
class Read:
    """A proof that was read without complaint and written again."""

    cpu_s: float
    format: ProofFormat


JUDGED = ("verified", "refuted", "incomplete", "malformed", "unsupported", "unknown", "input")
VERDICTS = {"native": JUDGED, "python": JUDGED, "rewrite": (*JUDGED, "read")}
"""What the worker may answer, by its task."""
FORMATS = ("", "drat", "lrat")
NAMES = ("formula.cnf", "proof")
"""Of the rewritten files."""
HINTS = "evolake-lrat"
"""The name of our own checker of LRAT (`lrat`), as verdicts have it."""


def ask_worker(
    task: str,
    cnf: Path,
    proof: Path,
    limits: ProofLimits,
    spelling: ProofSpelling,
    folder: Path | None = None,
) -> Finding | Read:
    """Return what the worker (see `worker`) says in its own jail: a proof is an adversary's bytes, and both
    readers and engines are native code.

    After the task "rewrite", `Read`, and the files NAMES are in `folder`. Whatever ends the worker once it
    has begun to read is "unknown". Raises InputError for a formula that cannot be used, MachineryError for a
    worker that does not start, JailUnavailable.
    """
    inputs = {"given.cnf": cnf, "given.proof": proof}
    writable = {name: folder / name for name in NAMES} if folder is not None else {}
    for path in writable.values():
        path.touch()
    request = {
        "cnf": "{work}/given.cnf",
        "proof": "{work}/given.proof",
        "names": {"cnf": str(cnf), "proof": str(proof)},
        "spelling": spelling,
        "task": task,
        "folder": "{work}",
        "memory_mb": limits.memory_mb,
        "proof_mb": limits.proof_mb,
    }
    python, folders = interpreter()
    environment = {
        "PYTHONPATH": os.pathsep.join(folders),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = DirectRun(
        [python, "-S", "-s", "-P", "-m", "evolake.solvers.proof.worker", json.dumps(request)],
        None,
        inputs,
        writable,
        environment,
        python=True,
    )
    outcome = run_direct(
        run,
        Limits(
            cpu_s=limits.cpu_s,
            wall_s=limits.clock_s,
            memory_mb=limits.memory_mb,
            file_mb=REWRITTEN_MB if writable else 0,
            output_bytes=LONGEST_ANSWER,
        ),
    )
    result = read_finding(outcome, task, limits)
    if not isinstance(result, Read):
        for path in writable.values():
            path.unlink()
    return replace(result, peak_mb=outcome.peak_mb) if isinstance(result, Finding) else result


def read_finding(outcome: NativeOutcome, task: str, limits: ProofLimits) -> Finding | Read:
    """Return what a run of the worker amounts to: a verdict only where it ended well after one well-formed
    answer. Raises InputError, MachineryError."""
    if early := ended_early(outcome, limits):
        return early
    said = outcome.stderr.decode("utf-8", "replace")
    if "MemoryError" in said or "memory allocation" in said:
        return Finding("unknown", f"needs more than {limits.memory_mb} MiB", outcome.cpu_s)
    lines = outcome.stdout.split(b"\n")
    if lines[0] != READY:
        raise MachineryError(
            "the proof checker did not start", got=one_line(said[-500:]) or f"exit {outcome.exit_code}"
        )
    try:
        answer = (
            json.loads(lines[1]) if outcome.exit_code == 0 and len(lines) == 3 and lines[2] == b"" else None
        )
    except (ValueError, RecursionError):
        answer = None
    if (
        not isinstance(answer, dict)
        or set(answer) != {"verdict", "reason", "format"}
        or not all(isinstance(value, str) for value in answer.values())
    ):
        return Finding(
            "unknown", one_line(f"the checker failed: {said[-300:] or outcome.exit_code}"), outcome.cpu_s
        )
    verdict, reason, kind = answer["verdict"], one_line(answer["reason"]), answer["format"]
    if verdict not in VERDICTS[task] or kind not in FORMATS:
        return Finding("unknown", "the checker failed: it gave a verdict that is none", outcome.cpu_s)
    if verdict == "input":
        raise _input_error(answer["reason"])
    if verdict == "read":
        return Read(outcome.cpu_s, kind)
    return Finding(cast(Verdict, verdict), reason, outcome.cpu_s, kind, HINTS if kind == "lrat" else "")


def ended_early(outcome: NativeOutcome, limits: ProofLimits) -> Finding | None:
    """Return the finding of a run that something else than its own end ended; None if it ended by itself."""
    if outcome.status in ("cpu", "timeout"):
        over = (
            f"{limits.cpu_s:g} s of processor time"
            if outcome.status == "cpu"
            else f"{limits.clock_s:g} s of the clock"
        )
        return Finding("unknown", f"no verdict within {over}", outcome.cpu_s)
    if outcome.status != "ok":
        return Finding("unknown", one_line(f"the checker was ended: {outcome.reason}"), outcome.cpu_s)
    return None


def judged_by_worker(
    engine: Engine, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling
) -> Finding:
    """Return the worker's verdict by an engine of dratify, or by `lrat` for LRAT. Raises what `ask_worker`
    raises."""
    result = ask_worker(engine, cnf, proof, limits, spelling)
    assert isinstance(result, Finding)
    return result


def _input_error(said: str) -> InputError:
    """Return the error of a formula that cannot be used, from its JSON; every part is made one line, as it
    quotes the formula."""
    try:
        parts = json.loads(said)
        what, wanted, got, do = (
            one_line(str(parts[name])) if parts[name] is not None else None
            for name in ("what", "wanted", "got", "next")
        )
    except (ValueError, RecursionError, KeyError, TypeError):
        what, wanted, got, do = one_line(said), None, None, None
    return InputError(what or "the formula cannot be used", wanted=wanted, got=got, do=do)
