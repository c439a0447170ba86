"""Check whether a proof holds: by one checker, or by two which share no code. The checkers are evolake's own,
which needs a C compiler once; dratify, which is always there; and the classical programs if they are on PATH
or built (`native_check`).

Which proofs are checked is drawn when a run is over, by a key that no candidate can see. A guess is an UNSAT
answer that nothing derives, with whatever its author writes as a proof. Once its proof is checked, its
variant is unsound permanently (`gates.judging`). With the share s of a stage, a guess that comes up in r of
its runs goes unseen with the probability

    P(unseen) = (1 - s) ** r

Correctness, stability, benchmark, duel and holdout have s = 1 in every profile, so that P = 0 for a guess in
any run that a figure is made of. An answer that was not drawn counts as unsolved: what a guess can win is 0,
what it risks is the variant. `SMOKE_SHARE` is small because a check costs ten times what a smoke run does,
and no figure rests on smoke runs.

The key is the lake's secret (`suites.fresh`), outside of every jail and table; that of a stage follows from
it by HMAC, so that a cycle's draws say nothing about another's, and a cycle that is materialized again draws
the same.

A deterministic solver writes the same proof whenever it meets a formula. The verdict follows from the two
files and the checkers alone, so it is kept under their hashes and versions, unless it rests on a limit
("unknown"). Repeated runs of one formula end at the same moment: the second process waits for the verdict
that the first is at.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib.metadata
import json
import os
import secrets
import threading
from dataclasses import asdict, replace
from pathlib import Path

from filelock import FileLock

from evolake.errors import InputError, MachineryError
from evolake.jail import Limits, NativeOutcome
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.protocol import one_line
from evolake.lake import disk
from evolake.scratch import Scratch
from evolake.solvers.proof import Finding, ProofChecker, ProofFormat, ProofLimits, ProofVerdict
from evolake.solvers.proof.asking import Read, ask_worker, judged_by_worker
from evolake.solvers.proof.drat import Engine, ProofSpelling
from evolake.solvers.proof.native_check import NativeCheck, find_program, identity

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


def check_proof(
    formula_path: Path,
    proof_path: Path,
    *,
    limits: ProofLimits = ProofLimits(),
    checker: str = "default",
    second: bool = False,
    spelling: ProofSpelling = "auto",
) -> ProofVerdict:
    """Judge a DRAT or LRAT proof, text or binary, against a formula; both files may be packed by gzip, xz,
    bzip2 or Zstandard.

    Args:
        checker: a name of `checkers.CHECKERS`, or "default".
        second: ask another, independent checker too if one that reads the proof's format is on PATH; the
            proof then is verified only if both say so.
        spelling: the proof's format if it is declared; see `lrat` for the rule if it is not.

    Raises:
        InputError: the formula or the proof file cannot be read, or the checker is not there. MachineryError:
            a checker broke down.
    """
    if not proof_path.is_file():
        raise InputError(
            f"there is no proof at {proof_path}",
            wanted="a file with a DRAT or LRAT proof",
            got=_found(proof_path),
            do="check the path",
        )
    if not formula_path.is_file():
        raise InputError(
            f"there is no formula at {formula_path}",
            wanted="a DIMACS file",
            got=_found(formula_path),
            do="check the path",
        )
    with proof_path.open("rb") as file:
        sha = hashlib.file_digest(file, "sha256").hexdigest()
    first = checker_named(checker)
    finding = first.check(formula_path, proof_path, limits, spelling)
    name = finding.by or first.name
    if finding.verdict != "verified" or not second:
        return ProofVerdict(finding.verdict, finding.reason, name, finding.cpu_s, sha)
    others = (CHECKERS[name] for name in SECOND if name != first.name)
    other = next(
        (item for item in others if (finding.format or "drat") in item.formats and item.available()), None
    )
    if other is None:
        return ProofVerdict(finding.verdict, finding.reason, name, finding.cpu_s, sha)
    again = other.check(formula_path, proof_path, limits, spelling)
    cpu_s = finding.cpu_s + again.cpu_s
    if again.verdict != "verified":
        return ProofVerdict(again.verdict, again.reason, other.name, cpu_s, sha)
    return ProofVerdict(
        "verified", f"{finding.reason}; {again.reason}", f"{name} and {other.name}", cpu_s, sha
    )


def _found(path: Path) -> str:
    """Say what is at a path if no regular file is."""
    if path.is_dir():
        return "a folder"
    if path.exists():
        return "no regular file"
    return "nothing"


KEY_BYTES = 32
SMOKE_SHARE = 0.1


def new_key() -> bytes:
    """Return a key that no role knows."""
    return secrets.token_bytes(KEY_BYTES)


def key_for(key: bytes, *names: str) -> bytes:
    """Return the key of one use: a stage of a cycle, say."""
    return hmac.digest(key, "\x1f".join(names).encode(), hashlib.sha256)


def seed_of(key: bytes) -> int:
    """Return a 63-bit seed that is as secret as the key."""
    return int.from_bytes(key_for(key, "seed")[:8]) >> 1


def is_drawn(key: bytes, formula: str, repeat: int, share: float) -> bool:
    """Return whether proofs of this formula and repetition are checked: the same for all variants of a stage,
    so that their figures compare."""
    return int.from_bytes(key_for(key, formula, str(repeat))[:8]) < share * 2**64


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
