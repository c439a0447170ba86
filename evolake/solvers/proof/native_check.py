"""Checkers of proofs that are programs: evolake's own of DRAT and LRAT, in C, compiled once per machine and
run in the jail; and the classical ones, found on PATH or where evolake built them, from the sources that
cadical's releases carry.

DRAT is checked backward, core first (`native/drat.c`), LRAT along its hints (`native/lrat.c`). Both read the
solver's file to its last byte while they check. The program may only say "verified", or that a limit ended
it; everything else is decided by the worker's checkers, which share no code with it and check forward. So a
proof is refuted by the word of two checkers. One that this program verifies may hold lemmas that do not
follow, if the refutation does without them: the formula is unsatisfiable all the same, and `--checker
dratify` checks every lemma. Without a C compiler the default is dratify, and verdicts name who judged.

cadical's test folder holds drat-trim.c (Heule, Wetzler) and lrat-trim.c (Pollitt, Fleury, Biere), both free
to use: a second opinion that shares no code with the default checker, for which a user who has the seed
cadical195 and a C compiler needs to install nothing.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

from evolake.errors import InputError, MachineryError
from evolake.jail import Limits, NativeOutcome
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.native import COMPILERS, compile_program, compiler
from evolake.jail.protocol import one_line
from evolake.reading import Unreadable, kind_of, read_bytes
from evolake.reading.archives import MOST_BYTES, tar_entries
from evolake.scratch import Scratch
from evolake.solvers.proof import Finding, ProofFormat, ProofLimits
from evolake.solvers.proof.asking import (
    HINTS,
    LONGEST_ANSWER,
    Read,
    ask_worker,
    ended_early,
    judged_by_worker,
)
from evolake.solvers.proof.drat import ProofSpelling

SOURCES_IN_CADICAL = {"drat-trim": "test/cnf/drat-trim.c", "lrat-trim": "test/cnf/lrat-trim.c"}
LARGEST_SOURCE = 4 << 20


def tools_folder() -> Path:
    """Return where built checkers are: EVOLAKE_PROOF_TOOLS, else `cache/proof-tools` in the lake."""
    if named := os.environ.get("EVOLAKE_PROOF_TOOLS"):
        return Path(named)
    from evolake.settings import load

    return load().require_lake() / "cache" / "proof-tools"


def find_program(name: str) -> Path | None:
    """Return the program on PATH, else the one that was built; None when there is neither."""
    if result := shutil.which(name):
        return Path(result).resolve()
    built = tools_folder() / name
    return built.resolve() if os.access(built, os.X_OK) else None


def build_tools(source: Path, into: Path | None = None) -> list[Path]:
    """Compile the checkers that `source` carries, in the jail, into `into` (default: `tools_folder()`); their
    paths.

    source: a folder of cadical's sources, or an archive of it. Raises InputError when it carries none or
    there is no compiler, MachineryError when a source does not compile.
    """
    command = compiler()
    if command is None:
        raise InputError(
            "there is no C compiler",
            wanted=f"one of {', '.join(COMPILERS)} on PATH",
            do="on Debian: apt-get install gcc libc6-dev",
        )
    texts = _sources(source)
    if not texts:
        raise InputError(
            f"{source} carries no proof checker",
            wanted=f"cadical's sources with {' or '.join(SOURCES_IN_CADICAL.values())}",
        )
    target = into or tools_folder()
    for name, text in texts.items():
        compile_program(
            [command, "-O2", "-w", "-o", "./program", "program.c", "-lm"], {"program.c": text}, target / name
        )
    return [target / name for name in texts]


def _sources(source: Path) -> dict[str, bytes]:
    """Program -> its source, of those that the folder or archive holds."""
    if source.is_dir():
        return {
            name: read_bytes(path, LARGEST_SOURCE)
            for name, place in SOURCES_IN_CADICAL.items()
            if (path := source / place).is_file()
        }
    texts: dict[str, bytes] = {}
    try:
        for entry, file in tar_entries(read_bytes(source, MOST_BYTES), name=str(source)):
            name = next(
                (name for name, place in SOURCES_IN_CADICAL.items() if entry.name.endswith("/" + place)), None
            )
            if name and file is not None and entry.size <= LARGEST_SOURCE:
                texts[name] = file.read()
    except (Unreadable, OSError) as error:
        got = error.got or error.what if isinstance(error, Unreadable) else str(error)
        raise InputError(
            f"{source} cannot be read", wanted="a folder or an archive of cadical's sources", got=got
        ) from None
    return texts


NATIVE = Path(__file__).parent / "native"
FLAGS = ("-O2", "-Wall", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2")
NAMES: dict[ProofFormat, str] = {"drat": "evolake-drat", "lrat": HINTS}
"""What verdicts call this checker, by the format of the proof."""
LONGEST_START = 8
"""Bytes that show how a file is packed."""


@functools.cache
def sources() -> dict[str, bytes]:
    """Return name -> contents of the program's sources."""
    return {path.name: path.read_bytes() for path in sorted(NATIVE.iterdir()) if path.suffix in (".c", ".h")}


@functools.cache
def identity() -> str:
    """Return the hash of the program's sources and flags, by which verdicts and the compiled program are
    kept."""
    parts = [
        " ".join(FLAGS).encode(),
        *(part for name, text in sources().items() for part in (name.encode(), text)),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def program_folder() -> Path:
    """Return where the compiled program is kept: EVOLAKE_PROOF_TOOLS, else the user's cache."""
    if named := os.environ.get("EVOLAKE_PROOF_TOOLS"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evolake" / "proof-tools"


def program_path() -> Path:
    """Return where the compiled program is, or would be."""
    return program_folder() / f"evolake-check-{identity()[:16]}"


def ready_program() -> Path:
    """Return the compiled program, compiling it if it is not there yet.

    Raises:
        MachineryError: it does not compile, or cannot be kept.
    """
    path = program_path()
    if not os.access(path, os.X_OK):
        command = compiler()
        if command is None:
            raise MachineryError(
                "evolake's proof checker is not compiled, and there is no C compiler",
                wanted="cc, gcc or clang on PATH",
            )
        units = [name for name in sources() if name.endswith(".c")]
        try:
            compile_program([command, *FLAGS, "-o", "./program", *units], sources(), path)
        except OSError as error:
            raise MachineryError(
                f"evolake's proof checker cannot be kept in {path.parent}",
                got=str(error),
                do="set EVOLAKE_PROOF_TOOLS",
            ) from error
    return path


class NativeCheck:
    """evolake's own checker; see the module."""

    name = "evolake"
    formats: tuple[ProofFormat, ...] = ("drat", "lrat")

    def available(self) -> bool:
        """Return True if the program is there or can be compiled and kept."""
        return os.access(program_path(), os.X_OK) or (
            compiler() is not None and _is_writable(program_folder())
        )

    def check(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling = "auto") -> Finding:
        """Judge a proof. A file that is packed, or whose format is not declared, is read and written again by
        the worker first."""
        if (
            spelling == "auto"
            or _is_packed(cnf)
            or _is_packed(proof)
            or proof.stat().st_size > limits.proof_mb << 20
        ):
            return self._rewritten(cnf, proof, limits, spelling)
        finding = run_program(cnf, proof, limits, spelling)
        if finding.verdict in ("verified", "unknown"):
            return finding
        return _in_addition(judged_by_worker("native", cnf, proof, limits, spelling), finding)

    def _rewritten(self, cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling) -> Finding:
        with Scratch("proof") as name:
            folder = Path(name)
            read = ask_worker("rewrite", cnf, proof, limits, spelling, folder)
            if not isinstance(read, Read):
                return read
            finding = run_program(
                folder / "formula.cnf",
                folder / "proof",
                limits,
                "lrat-text" if read.format == "lrat" else "drat-text",
            )
            finding = replace(finding, cpu_s=finding.cpu_s + read.cpu_s)
        if finding.verdict in ("verified", "unknown"):
            return finding
        return _in_addition(judged_by_worker("native", cnf, proof, limits, spelling), finding)


def run_program(cnf: Path, proof: Path, limits: ProofLimits, spelling: ProofSpelling) -> Finding:
    """Run the program on plain files with a proof of a declared format.

    The verdict is "verified", "unknown" (a limit), or "refuted" for all that is left to other checkers.
    """
    path = ready_program()
    inputs = {"given.cnf": cnf, "given.proof": proof}
    run = DirectRun(
        [f"{{solver}}/{path.name}", "{work}/given.cnf", "{work}/given.proof", spelling], path.parent, inputs
    )
    outcome = run_direct(
        run,
        Limits(
            cpu_s=limits.cpu_s,
            wall_s=limits.clock_s,
            memory_mb=limits.memory_mb,
            file_mb=0,
            output_bytes=LONGEST_ANSWER,
        ),
    )
    return replace(
        read_answer(outcome, "lrat" if spelling.startswith("lrat") else "drat", limits),
        peak_mb=outcome.peak_mb,
    )


def read_answer(outcome: NativeOutcome, kind: ProofFormat, limits: ProofLimits) -> Finding:
    """Return what a run of the program amounts to: verified only if it ended well after the one line that
    says so."""
    if early := ended_early(outcome, limits):
        return early
    said = outcome.stdout.decode("ascii", "replace")
    word, _, reason = said.removesuffix("\n").partition(" ")
    if (
        outcome.exit_code != 0
        or not said.endswith("\n")
        or said.count("\n") != 1
        or word not in ("verified", "refused", "unread", "unknown")
    ):
        return Finding(
            "unknown", one_line(f"the checker failed: {said[-300:] or outcome.exit_code}"), outcome.cpu_s
        )
    if word == "unknown":
        return Finding(
            "unknown",
            f"needs more than {limits.memory_mb} MiB" if "memory" in reason else one_line(reason),
            outcome.cpu_s,
        )
    return Finding(
        "verified" if word == "verified" else "refuted", one_line(reason), outcome.cpu_s, kind, NAMES[kind]
    )


def _in_addition(finding: Finding, before: Finding) -> Finding:
    """Return a later checker's finding, which cost as much in addition."""
    return replace(
        finding,
        cpu_s=finding.cpu_s + before.cpu_s,
        by=finding.by or "dratify",
        peak_mb=max(finding.peak_mb, before.peak_mb),
    )


def _is_packed(path: Path) -> bool:
    """Return True if a file is packed, or its name says so: then the reader of packed files has to look at
    it."""
    from evolake.reading.formula import ENDINGS

    with path.open("rb") as file:
        return kind_of(file.read(LONGEST_START)) is not None or path.suffix.lower() in ENDINGS


def _is_writable(folder: Path) -> bool:
    """Return True if files can be made in a folder that may not exist yet."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), None)
    return there is not None and there.is_dir() and os.access(there, os.W_OK | os.X_OK)
