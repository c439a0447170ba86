"""The proof checkers that evolake knows: dratify and our own for LRAT, which are always there, and the classical programs if they are on PATH or
built (`tools`)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from evolake.errors import InputError, MachineryError
from evolake.jail import Limits, NativeOutcome
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.interpreter import interpreter
from evolake.jail.protocol import one_line
from evolake.scratch import Scratch
from evolake.solvers.proof.dratify import Engine
from evolake.solvers.proof.parse import ProofSpelling
from evolake.solvers.proof.tools import find_program
from evolake.solvers.proof.verdict import Finding, ProofChecker, ProofFormat, ProofLimits, Verdict
from evolake.solvers.proof.worker import READY

HINTS_MB = 4096
"""Largest file of hints (LRAT) that is made between two programs."""
REWRITTEN_MB = 4096
"""Largest file that the worker writes anew: a binary proof grows to about three times its size as text."""
LONGEST_ANSWER = 100_000


@dataclass(frozen=True)
class Read:
    """A proof that was read without complaint and written anew."""

    cpu_s: float
    format: ProofFormat


JUDGED = ("verified", "refuted", "unsupported", "unknown", "input")
VERDICTS = {"native": JUDGED, "python": JUDGED, "rewrite": (*JUDGED, "read")}
"""What the worker may answer, by its task."""
FORMATS = ("", "drat", "lrat")
NAMES = ("formula.cnf", "proof")
"""Of the rewritten files."""
HINTS = "evolake-lrat"
"""The name of our own checker of LRAT (`hints`), as verdicts have it."""


def ask_worker(task: str, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling, folder: Path | None = None) -> Finding | Read:
    """What the worker (see `worker`) says in a jail of its own: a proof is an adversary's bytes, and both readers and engines are native code.

    After the task "rewrite", `Read`, and the files NAMES are in `folder`. Whatever ends the worker once it has begun to read is "unknown". Raises
    InputError for a formula that cannot be used, MachineryError for a worker that does not start, JailUnavailable.
    """
    inputs = {"given.cnf": cnf, "given.proof": proof}
    writable = {name: folder / name for name in NAMES} if folder is not None else {}
    for path in writable.values():
        path.touch()
    request = {
        "cnf": "{work}/given.cnf", "proof": "{work}/given.proof", "names": {"cnf": str(cnf), "proof": str(proof)}, "spelling": spelling,
        "task": task, "folder": "{work}", "memory_mb": limits.memory_mb, "proof_mb": limits.proof_mb,
    }
    python, folders = interpreter()
    environment = {"PYTHONPATH": os.pathsep.join(folders), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    run = DirectRun(
        [python, "-S", "-s", "-P", "-m", "evolake.solvers.proof.worker", json.dumps(request)], None, inputs, writable, environment, python=True,
    )
    outcome = run_direct(run, Limits(
        cpu_s=limits.cpu_s, wall_s=limits.clock_s, memory_mb=limits.memory_mb, file_mb=REWRITTEN_MB if writable else 0, output_bytes=LONGEST_ANSWER,
    ))
    result = read_finding(outcome, task, limits)
    if not isinstance(result, Read):
        for path in writable.values():
            path.unlink()
    return result


def read_finding(outcome: NativeOutcome, task: str, limits: ProofLimits) -> Finding | Read:
    """What a run of the worker amounts to: a verdict only where it ended well after one well-formed answer. Raises InputError, MachineryError."""
    said = outcome.stderr.decode("utf-8", "replace")
    if outcome.status in ("cpu", "timeout"):
        over = f"{limits.cpu_s:g} s of processor time" if outcome.status == "cpu" else f"{limits.clock_s:g} s of the clock"
        return Finding("unknown", f"no verdict within {over}", outcome.cpu_s)
    if outcome.status != "ok":
        return Finding("unknown", one_line(f"the checker was ended: {outcome.reason}"), outcome.cpu_s)
    if "MemoryError" in said or "memory allocation" in said:
        return Finding("unknown", f"needs more than {limits.memory_mb} MiB", outcome.cpu_s)
    lines = outcome.stdout.split(b"\n")
    if lines[0] != READY:
        raise MachineryError("the proof checker did not start", got=one_line(said[-500:]) or f"exit {outcome.exit_code}")
    try:
        answer = json.loads(lines[1]) if outcome.exit_code == 0 and len(lines) == 3 and lines[2] == b"" else None
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or set(answer) != {"verdict", "reason", "format"} or not all(isinstance(value, str) for value in answer.values()):
        return Finding("unknown", one_line(f"the checker failed: {said[-300:] or outcome.exit_code}"), outcome.cpu_s)
    verdict, reason, kind = answer["verdict"], one_line(answer["reason"]), answer["format"]
    if verdict not in VERDICTS[task] or kind not in FORMATS:
        return Finding("unknown", "the checker failed: it gave a verdict that is none", outcome.cpu_s)
    if verdict == "input":
        raise _input_error(answer["reason"])
    if verdict == "read":
        return Read(outcome.cpu_s, kind)
    return Finding(cast(Verdict, verdict), reason, outcome.cpu_s, kind, HINTS if kind == "lrat" else "")


def _input_error(said: str) -> InputError:
    """The error of a formula that cannot be used, from its JSON; every part is made one line, as it quotes the formula."""
    try:
        parts = json.loads(said)
        what, wanted, got, do = (one_line(str(parts[name])) if parts[name] is not None else None for name in ("what", "wanted", "got", "next"))
    except (ValueError, RecursionError, KeyError, TypeError):
        what, wanted, got, do = one_line(said), None, None, None
    return InputError(what or "the formula cannot be used", wanted=wanted, got=got, do=do)


class Dratify:
    """dratify in a process of its own. `native` is the engine to use; `python` is independent code, about fifteen times slower. An LRAT proof is
    checked there by its hints, which dratify does not read."""

    formats: tuple[ProofFormat, ...] = ("drat", "lrat")

    def __init__(self, name: str, engine: Engine):
        self.name, self._engine = name, engine

    def available(self) -> bool:
        import importlib.util

        return importlib.util.find_spec("dratify" if self._engine == "python" else "cdclkit_native") is not None

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        result = ask_worker(self._engine, cnf, proof, limits, spelling)
        assert isinstance(result, Finding)
        return result


class DratTrim:
    """drat-trim. It exits 0 on time-out and out of memory, and writes a carriage return before its status: only the exact line counts."""

    name = "drat-trim"
    formats: tuple[ProofFormat, ...] = ("drat",)

    def available(self) -> bool:
        return find_program("drat-trim") is not None

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        with Scratch("proof") as name:
            read = ask_worker("rewrite", cnf, proof, limits, spelling, Path(name))
            return replace(read, by="") if isinstance(read, Finding) else self.trimmed(read, limits, Path(name), hints=None)

    def trimmed(self, read: Read, limits: ProofLimits, folder: Path, *, hints: Path | None) -> Finding:
        """Check what was rewritten into `folder`; also write LRAT hints to the existing file `hints`."""
        if read.format == "lrat":
            return Finding("unsupported", "drat-trim reads DRAT, and the proof is LRAT", read.cpu_s, read.format)
        argv = ["{work}/formula.cnf", "{work}/proof", "-t", str(int(limits.cpu_s) + 1)]
        outcome = _run("drat-trim", argv + (["-L", "{work}/hints.lrat"] if hints else []), folder, limits, {"hints.lrat": hints} if hints else {})
        return _by_line(outcome, "s VERIFIED", "s NOT VERIFIED", read.cpu_s)


class LratChecker:
    """A checker of proofs with hints, independent of our own (cake_lpr is itself proved). The hints of a DRAT proof are made by drat-trim."""

    formats: tuple[ProofFormat, ...] = ("drat", "lrat")

    def __init__(self, name: str, verified: str, refuted: str):
        self.name, self._verified, self._refuted = name, verified, refuted

    def available(self) -> bool:
        return find_program(self.name) is not None and DratTrim().available()

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        with Scratch("proof") as name:
            folder = Path(name)
            read = ask_worker("rewrite", cnf, proof, limits, spelling, folder)
            if isinstance(read, Finding):
                return replace(read, by="")
            if read.format == "lrat":
                (folder / "proof").replace(folder / "hints.lrat")
                return self._judged(folder, limits, read.cpu_s)
            hints = folder / "hints.lrat"
            hints.touch()
            trimmed = DratTrim().trimmed(read, limits, folder, hints=hints)
            if trimmed.verdict != "verified":
                return trimmed
            (folder / "proof").unlink()
            return self._judged(folder, limits, trimmed.cpu_s)

    def _judged(self, folder: Path, limits: ProofLimits, cpu_before: float) -> Finding:
        outcome = _run(self.name, ["{work}/formula.cnf", "{work}/hints.lrat"], folder, limits, {})
        return _by_line(outcome, self._verified, self._refuted, cpu_before)


def _run(program: str, arguments: list[str], folder: Path, limits: ProofLimits, writable: dict[str, Path]) -> NativeOutcome:
    """A checker's program in the jail, with the files of `folder`."""
    path = find_program(program)
    if path is None:
        raise MachineryError(f"{program} is gone", wanted="the program that was there before")
    inputs = {file.name: file for file in folder.iterdir() if file.name not in writable}
    return run_direct(DirectRun([f"{{solver}}/{path.name}", *arguments], path.parent, inputs, writable), Limits(
        cpu_s=limits.cpu_s, wall_s=limits.clock_s, memory_mb=limits.memory_mb, file_mb=HINTS_MB if writable else 0,
    ))


def _by_line(outcome: NativeOutcome, verified: str, refuted: str, cpu_before: float) -> Finding:
    """The verdict of the one status line; without exactly one of the two, nothing is known."""
    cpu_s = cpu_before + outcome.cpu_s
    lines = {line.strip() for line in outcome.stdout.decode("utf-8", "replace").replace("\r", "\n").split("\n")}
    if outcome.status == "ok" and (verified in lines) != (refuted in lines):
        return Finding("verified", f"`{verified}`", cpu_s) if verified in lines else Finding("refuted", f"`{refuted}`", cpu_s)
    why = outcome.reason or next((line for line in sorted(lines) if line.startswith("s ")), "no status line")
    return Finding("unknown", one_line(why), cpu_s)


CHECKERS: dict[str, ProofChecker] = {checker.name: checker for checker in (
    Dratify("dratify", "native"), DratTrim(), LratChecker("cake_lpr", "s VERIFIED UNSAT", "s NOT VERIFIED"),
    LratChecker("lrat-trim", "s VERIFIED", "s NOT VERIFIED"), LratChecker("lrat-check", "c VERIFIED", "c NOT VERIFIED"),
    Dratify("dratify-python", "python"),
)}
DEFAULT = "dratify"
SECOND = ("cake_lpr", "lrat-trim", "lrat-check", "drat-trim")
"""Who is asked for a second opinion, the most trustworthy first: programs that share no code with the default."""


def checker_named(name: str) -> ProofChecker:
    """The checker of that name ("default" for the usual one). Raises InputError when it is unknown or absent."""
    result = CHECKERS.get(DEFAULT if name == "default" else name)
    if result is None:
        raise InputError(f"no proof checker named {name!r}", wanted=f"one of default, {', '.join(CHECKERS)}", got=name, do="name one of these")
    if not result.available():
        raise InputError(f"the proof checker {result.name} is not on this machine", wanted="it on PATH, or built", got="neither",
                         do="install it, build it with `evolake proof tools CADICAL`, or use the default")
    return result
