"""The proof checkers that evolake knows: its own, which needs a C compiler once; dratify, which is always
there; and the classical programs if they are on PATH or built (`tools`)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evolake.errors import InputError, MachineryError
from evolake.jail import Limits, NativeOutcome
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.protocol import one_line
from evolake.scratch import Scratch
from evolake.solvers.proof.asking import Read, ask_worker, judged_by_worker
from evolake.solvers.proof.dratify import Engine
from evolake.solvers.proof.native_check import NativeCheck
from evolake.solvers.proof.parse import ProofSpelling
from evolake.solvers.proof.tools import find_program
from evolake.solvers.proof.verdict import Finding, ProofChecker, ProofFormat, ProofLimits

HINTS_MB = 4096
"""Largest file of hints (LRAT) that is made between two programs."""


class Dratify:
    """dratify in its own process. `native` is the engine to use; `python` is independent code, about fifteen
    times slower. An LRAT proof is checked there by its hints, which dratify does not read."""

    formats: tuple[ProofFormat, ...] = ("drat", "lrat")

    def __init__(self, name: str, engine: Engine):
        self.name = name
        self._engine: Engine = engine

    def available(self) -> bool:
        """Return whether the engine's package is installed."""
        import importlib.util

        return (
            importlib.util.find_spec("dratify" if self._engine == "python" else "cdclkit_native") is not None
        )

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        """Check a proof in a worker process; see `Checker.check`."""
        return judged_by_worker(self._engine, cnf, proof, limits, spelling)


class DratTrim:
    """drat-trim. It exits 0 on time-out and out of memory, and writes a carriage return before its status:
    only the exact line counts."""

    name = "drat-trim"
    formats: tuple[ProofFormat, ...] = ("drat",)

    def available(self) -> bool:
        """Return whether the program drat-trim is installed."""
        return find_program("drat-trim") is not None

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        """Check a proof by drat-trim, rewritten for it; see `Checker.check`."""
        with Scratch("proof") as name:
            read = ask_worker("rewrite", cnf, proof, limits, spelling, Path(name))
            return (
                replace(read, by="")
                if isinstance(read, Finding)
                else self.trimmed(read, limits, Path(name), hints=None)
            )

    def trimmed(self, read: Read, limits: ProofLimits, folder: Path, *, hints: Path | None) -> Finding:
        """Check what was rewritten into `folder`; also write LRAT hints to the existing file `hints`."""
        if read.format == "lrat":
            return Finding(
                "unsupported", "drat-trim reads DRAT, and the proof is LRAT", read.cpu_s, read.format
            )
        argv = ["{work}/formula.cnf", "{work}/proof", "-t", str(int(limits.cpu_s) + 1)]
        outcome = _run(
            "drat-trim",
            argv + (["-L", "{work}/hints.lrat"] if hints else []),
            folder,
            limits,
            {"hints.lrat": hints} if hints else {},
        )
        return _by_line(outcome, "s VERIFIED", "s NOT VERIFIED", read.cpu_s)


class LratChecker:
    """A checker of proofs with hints, independent of our own (cake_lpr is itself proved). The hints of a DRAT
    proof are made by drat-trim."""

    formats: tuple[ProofFormat, ...] = ("drat", "lrat")

    def __init__(self, name: str, verified: str, refuted: str):
        self.name, self._verified, self._refuted = name, verified, refuted

    def available(self) -> bool:
        """Return whether the checker and drat-trim are installed."""
        return find_program(self.name) is not None and DratTrim().available()

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        """Check a proof by an LRAT checker, after drat-trim; see `Checker.check`."""
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


def _run(
    program: str, arguments: list[str], folder: Path, limits: ProofLimits, writable: dict[str, Path]
) -> NativeOutcome:
    """Return a checker's program in the jail, with the files of `folder`."""
    path = find_program(program)
    if path is None:
        raise MachineryError(f"{program} is gone", wanted="the program that was there before")
    inputs = {file.name: file for file in folder.iterdir() if file.name not in writable}
    return run_direct(
        DirectRun([f"{{solver}}/{path.name}", *arguments], path.parent, inputs, writable),
        Limits(
            cpu_s=limits.cpu_s,
            wall_s=limits.clock_s,
            memory_mb=limits.memory_mb,
            file_mb=HINTS_MB if writable else 0,
        ),
    )


def _by_line(outcome: NativeOutcome, verified: str, refuted: str, cpu_before: float) -> Finding:
    """Return the verdict of the one status line; without exactly one of the two, nothing is known."""
    cpu_s = cpu_before + outcome.cpu_s
    lines = {
        line.strip() for line in outcome.stdout.decode("utf-8", "replace").replace("\r", "\n").split("\n")
    }
    if outcome.status == "ok" and (verified in lines) != (refuted in lines):
        return (
            Finding("verified", f"`{verified}`", cpu_s)
            if verified in lines
            else Finding("refuted", f"`{refuted}`", cpu_s)
        )
    why = outcome.reason or next((line for line in sorted(lines) if line.startswith("s ")), "no status line")
    return Finding("unknown", one_line(why), cpu_s)


CHECKERS: dict[str, ProofChecker] = {
    checker.name: checker
    for checker in (
        NativeCheck(),
        Dratify("dratify", "native"),
        DratTrim(),
        LratChecker("cake_lpr", "s VERIFIED UNSAT", "s NOT VERIFIED"),
        LratChecker("lrat-trim", "s VERIFIED", "s NOT VERIFIED"),
        LratChecker("lrat-check", "c VERIFIED", "c NOT VERIFIED"),
        Dratify("dratify-python", "python"),
    )
}
DEFAULTS = ("evolake", "dratify")
"""The default is the first of these that is available; the second always is."""
SECOND = ("cake_lpr", "lrat-trim", "lrat-check", "drat-trim")
"""The checkers that are asked for a second opinion, the most trustworthy first: programs that share no code
with the default."""


def checker_named(name: str) -> ProofChecker:
    """Return the checker of that name ("default" for the usual one). Raises InputError when it is unknown or
    absent."""
    if name == "default":
        name = next(each for each in DEFAULTS if CHECKERS[each].available())
    result = CHECKERS.get(name)
    if result is None:
        raise InputError(
            f"no proof checker named {name!r}",
            wanted=f"one of default, {', '.join(CHECKERS)}",
            got=name,
            do="name one of these",
        )
    if not result.available():
        raise InputError(
            f"the proof checker {result.name} is not on this machine",
            wanted="it on PATH, or built",
            got="neither",
            do="install it, build it with `evolake proof tools CADICAL`, or use the default",
        )
    return result
