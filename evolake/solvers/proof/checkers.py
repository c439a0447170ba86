"""The proof checkers that evolake knows: dratify, which is always installed, and the classical programs where they are on PATH or built (`tools`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import InputError, MachineryError
from evolake.jail import Limits, NativeOutcome
from evolake.jail.backends import interpreter
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.protocol import one_line
from evolake.jail.verdict import signal_name
from evolake.solvers.proof.dratify import Engine
from evolake.solvers.proof.parse import ProofSpelling
from evolake.solvers.proof.tools import find_program
from evolake.solvers.proof.verdict import Finding, ProofChecker, ProofLimits

HINTS_MB = 4096
"""Largest file of hints (LRAT) that is made between two programs."""


@dataclass(frozen=True)
class Read:
    """A proof that was read without complaint and written anew."""

    cpu_s: float


def ask_worker(task: str, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling, folder: str = "") -> Finding | Read:
    """What the worker says (see `worker`); `Read` after the task "rewrite". Raises InputError for a formula that cannot be used."""
    request = {
        "cnf": str(cnf.resolve()), "proof": str(proof.resolve()), "spelling": spelling, "task": task, "folder": folder,
        "limits": {"cpu_s": limits.cpu_s, "memory_mb": limits.memory_mb, "proof_mb": limits.proof_mb},
    }
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(interpreter()[1])}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-s", "-P", "-m", "evolake.solvers.proof.worker"], input=json.dumps(request), env=environment, capture_output=True,
            text=True, timeout=limits.clock_s, cwd="/",
        )
    except subprocess.TimeoutExpired:
        return Finding("unknown", f"no verdict within {limits.clock_s:g} s of the clock", limits.cpu_s)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Finding("unknown", f"no verdict within {limits.cpu_s:g} s of processor time", limits.cpu_s)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        if "MemoryError" in done.stderr or "memory allocation" in done.stderr:
            return Finding("unknown", f"needs more than {limits.memory_mb} MiB", 0.0)
        if done.returncode < 0:
            return Finding("unknown", one_line(f"the checker died by {signal_name(-done.returncode)}: {done.stderr[-300:]}"), 0.0)
        raise MachineryError("the proof checker failed", got=one_line(done.stderr[-500:]) or f"exit {done.returncode}") from None
    if answer["verdict"] == "input":
        raise InputError(answer["reason"])
    if answer["verdict"] == "read":
        return Read(answer["cpu_s"])
    return Finding(answer["verdict"], one_line(answer["reason"]), answer["cpu_s"])


class Dratify:
    """dratify in a process of its own. `native` is the engine to use; `python` is independent code, about fifteen times slower."""

    def __init__(self, name: str, engine: Engine):
        self.name, self._engine = name, engine

    def available(self) -> bool:
        import importlib.util

        return importlib.util.find_spec("dratify" if self._engine == "python" else "cdclkit_native") is not None

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        found = ask_worker(self._engine, cnf, proof, limits, spelling)
        assert isinstance(found, Finding)
        return found


class DratTrim:
    """drat-trim. It exits 0 on time-out and out of memory, and writes a carriage return before its status: only the exact line counts."""

    name = "drat-trim"

    def available(self) -> bool:
        return find_program("drat-trim") is not None

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        with tempfile.TemporaryDirectory(prefix="evolake-proof-") as name:
            return self.trim(cnf, proof, limits, spelling, Path(name), hints=None)

    def trim(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling, folder: Path, *, hints: Path | None) -> Finding:
        """Check in `folder`; also write LRAT hints to the existing file `hints`."""
        read = ask_worker("rewrite", cnf, proof, limits, spelling, str(folder))
        if isinstance(read, Finding):
            return read
        argv = ["{work}/formula.cnf", "{work}/proof.drat", "-t", str(int(limits.cpu_s) + 1)]
        outcome = _run("drat-trim", argv + (["-L", "{work}/hints.lrat"] if hints else []), folder, limits, {"hints.lrat": hints} if hints else {})
        return _by_line(outcome, "s VERIFIED", "s NOT VERIFIED", read.cpu_s)


class LratChecker:
    """A checker of proofs with hints, which drat-trim makes from ours: independent of drat-trim's own judgement (cake_lpr is itself proved)."""

    def __init__(self, name: str, verified: str, refuted: str):
        self.name, self._verified, self._refuted = name, verified, refuted

    def available(self) -> bool:
        return find_program(self.name) is not None and DratTrim().available()

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        with tempfile.TemporaryDirectory(prefix="evolake-proof-") as name:
            folder = Path(name)
            hints = folder / "hints.lrat"
            hints.touch()
            trimmed = DratTrim().trim(cnf, proof, limits, spelling, folder, hints=hints)
            if trimmed.verdict != "verified" or not (folder / "proof.drat").exists():
                return trimmed
            (folder / "proof.drat").unlink()
            outcome = _run(self.name, ["{work}/formula.cnf", "{work}/hints.lrat"], folder, limits, {})
            return _by_line(outcome, self._verified, self._refuted, trimmed.cpu_s)


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


def available_checkers() -> list[ProofChecker]:
    """Those that can be used here."""
    return [checker for checker in CHECKERS.values() if checker.available()]


def checker_named(name: str) -> ProofChecker:
    """The checker of that name ("default" for the usual one). Raises InputError when it is unknown or absent."""
    found = CHECKERS.get(DEFAULT if name == "default" else name)
    if found is None:
        raise InputError(f"no proof checker named {name!r}", wanted=f"one of default, {', '.join(CHECKERS)}")
    if not found.available():
        raise InputError(f"the proof checker {found.name} is not on this machine", wanted="it on PATH, or built",
                         do="install it, build it with `evolake proof tools CADICAL`, or use the default")
    return found
