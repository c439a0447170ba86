"""Run one solver on one formula: a jailed process, its answer read strictly, its use of time and memory
from the kernel.

The program sees itself in /solver, the instance as /work/instance.cnf and, when a proof is wanted, one empty
file /work/proof: neither the instance's name nor its place. Exit codes alone are never believed, nor is the
answer line: where the two disagree the run is malformed.

Answers follow the rules of the SAT competitions, and everything that breaks them is named. One line `s
SATISFIABLE`, `s UNSATISFIABLE` or `s UNKNOWN` (minisat's word INDETERMINATE is taken as UNKNOWN); after
SATISFIABLE the model on lines `v ...`, ended by one 0. What else a solver prints is ignored. Nothing is
guessed: an answer that breaks a rule is reported with its problem, and its reader must not use it as an
answer.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from evolake.errors import InputError
from evolake.jail import Limits, NativeOutcome
from evolake.jail.direct import DirectRun, run_direct
from evolake.solvers.tables import CLOCK, REFUSED, UNREAD

Answer = Literal["sat", "unsat", "unknown"]
WORDS: dict[bytes, Answer] = {
    b"SATISFIABLE": "sat",
    b"UNSATISFIABLE": "unsat",
    b"UNKNOWN": "unknown",
    b"INDETERMINATE": "unknown",
}
LARGEST_COUNT = 2.0**63
_STATUS = re.compile(rb"(?m)^s(?:[ \t]([^\n]*))?$")
_VALUES = re.compile(rb"(?m)^v(?:[ \t]([^\n]*))?$")
_JUNK = re.compile(rb"[^0-9 \t\r\n-]|-(?![1-9])|[0-9]-|[0-9]{11}|(?<![0-9])0[0-9]")


@dataclass(frozen=True)
class Reading:
    """answer: None when there is no status line, or several. model: int32 literals of a whole model; None
    otherwise. problems: rules broken."""

    answer: Answer | None
    model: np.ndarray | None = field(repr=False)
    problems: tuple[str, ...]


def read_answer(stdout: bytes) -> Reading:
    """Return what `stdout` says."""
    problems: list[str] = []
    answer: Answer | None = None
    said = [(result[1] or b"").strip() for result in _STATUS.finditer(stdout)]
    if len(said) > 1:
        problems.append(f"two answers: {', '.join(_quoted_bytes(word) for word in said[:3])}")
    elif said and said[0] not in WORDS:
        problems.append(f"status line that is none: {_quoted_bytes(said[0])}")
    elif said:
        answer = WORDS[said[0]]
    lines = [result[1] or b"" for result in _VALUES.finditer(stdout)]
    model = None
    if lines and answer != "sat":
        problems += [] if problems else ["a model without the answer SATISFIABLE"]
    elif lines:
        model = _read_model(b"\n".join(lines), problems)
    elif answer == "sat":
        problems.append("no model")
    if stdout and not stdout.endswith(b"\n") and re.search(rb"(?:^|\n)[sv][ \t][^\n]*$", stdout):
        problems.append("the last answer line has no end")
    return Reading(answer, model, tuple(problems))


def _read_model(data: bytes, problems: list[str]) -> np.ndarray | None:
    if junk := _JUNK.search(data):
        problems.append(
            "a model with something that is no literal: "
            f"{_quoted_bytes(data[max(0, junk.start() - 10) : junk.end() + 10])}"
        )
        return None
    numbers = np.fromstring(data, dtype=np.int64, sep=" ") if data.strip() else np.zeros(0, dtype=np.int64)
    if not len(numbers) or numbers[-1] != 0:
        problems.append("a model without its final 0")
        return None
    numbers = numbers[:-1]
    if (numbers == 0).any():
        problems.append("a model with a 0 in it")
        return None
    if len(numbers) and np.abs(numbers).max() > 2**31 - 1:
        problems.append("a model with a literal that is too large")
        return None
    if len(np.unique(numbers)) != len(np.unique(np.abs(numbers))):
        problems.append("a model that gives one variable both values")
        return None
    return numbers.astype(np.int32)


def without_model(stdout: bytes, longest: int) -> str:
    """Return the last `longest` characters of the output without its model lines: what a reader of a failed
    run wants to see."""
    return re.sub(rb"(?m)^v[ \t][^\n]*\n?", b"", stdout).decode("utf-8", "replace")[-longest:]


def read_counters(stdout: bytes, patterns: dict[str, str] | None) -> dict[str, float]:
    """Return counter -> number, for each pattern that is found; the last match counts. What no counter of 64
    bits holds is left out: it is none."""
    text = stdout.decode("utf-8", "replace")
    counters = {}
    for name, pattern in (patterns or {}).items():
        if result := re.findall(pattern, text, re.MULTILINE):
            with contextlib.suppress(ValueError):
                if 0 <= (value := float(result[-1])) < LARGEST_COUNT:
                    counters[name] = value
    return counters


def _quoted_bytes(data: bytes) -> str:
    return repr(data[:60].decode("ascii", "replace"))


ProofFormat = Literal["none", "drat-text", "drat-binary", "lrat-text", "lrat-binary"]
RunStatus = Literal[
    "sat", "unsat", "unknown", "timeout", "clock", "memory", "crash", "refused", "unread", "malformed"
]
"""How a run ended.

sat, unsat: one well-formed answer that agrees with the exit code. unknown: without an answer, or its proof
outgrew the limit. timeout: past the processor time, or it waited by itself until the clock ended it. clock:
the clock ended it, though it ran or was ready to run and had processor time left; it is no result (see
`starved`). memory: out of memory. crash: by a signal. refused: by itself, with the exit code of an error and
no answer. unread: so, and it said that it cannot read the formula. malformed: `problems` say why.
"""
UNREADABLE = re.compile(
    rb"(?i)pars(?:e|ing) error|(?:un)?expected (?:char|end|token|literal|header)|(?:bad|invalid|missing|"
    rb"malformed) (?:header|dimacs|literal|p cnf)|cannot (?:parse|read) (?:the )?(?:input|file|formula|"
    rb"dimacs)"
)
"""How solvers say that they cannot read a formula."""
READY_SHARE = 0.5
"""A run that the clock ended is the machine's fault if it ran or waited for a processor for this share of the
time."""


@dataclass(frozen=True)
class Program:
    """A built solver.

    folder: shown as /solver, of which argv[0], relative to it, is all that is there. tools: programs of the
    system that it may become, none for a solver; a script needs its interpreter. argv: may hold {cnf}.
    proof_argv: the command line that writes a proof, may also hold {proof}; None when the solver has none.
    environment: next to the jail's own. statistics: counter name -> regular expression whose first group is
    its number in the output (the last match counts). exit_codes: of the answers "sat" and "unsat".
    """

    folder: Path
    argv: tuple[str, ...]
    proof_argv: tuple[str, ...] | None = None
    proof: ProofFormat = "none"
    environment: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, str] = field(default_factory=dict)
    exit_codes: Mapping[str, int] = field(default_factory=lambda: {"sat": 10, "unsat": 20})
    tools: tuple[Path, ...] = ()


@dataclass(frozen=True)
class RunLimits:
    """cpu_s: seconds of processor time. wall_s: seconds of the clock. memory_mb: MiB of address space.
    proof_mb: MiB of the proof. output_bytes: of standard output and of standard error, each.

    shown: the limits that the kernel holds and the program can read, no tighter than these; None: these.
    Stages of one profile show one, so that no program learns from its limits which stage it is in (see
    `alike`); what is tighter the supervisor holds, memory by the largest resident set.
    """

    cpu_s: float = 10.0
    wall_s: float = 30.0
    memory_mb: int = 2048
    proof_mb: int = 512
    output_bytes: int = 64 << 20
    shown: RunLimits | None = None


def alike(*limits: RunLimits) -> tuple[RunLimits, ...]:
    """Return the same limits, each showing the loosest of all of them."""
    names = ("cpu_s", "memory_mb", "proof_mb")
    shown = replace(
        limits[0], shown=None, **{name: max(getattr(item, name) for item in limits) for name in names}
    )
    return tuple(replace(item, shown=shown) for item in limits)


SMOKE_LIMITS, CORRECTNESS_LIMITS, STABILITY_LIMITS = alike(
    RunLimits(cpu_s=5, wall_s=60, memory_mb=1024, proof_mb=64),
    RunLimits(cpu_s=10, wall_s=120, memory_mb=2048, proof_mb=512),
    RunLimits(cpu_s=10, wall_s=120, memory_mb=192, proof_mb=256),
)
"""Of the gates; no run can tell from them which gate it is in."""


@dataclass(frozen=True)
class SolverRun:
    """What came of one run.

    answer: what the solver said, also when the run as a whole is malformed. model: int32 literals, None
    unless it gave a whole one. counters: conflicts, decisions, propagations, restarts as far as it prints
    them; instructions where the kernel counts them. proof: the file that it wrote, in `scratch`; None when
    none was asked for. stdout_tail: the end of its output without the model lines.
    """

    status: RunStatus
    answer: Literal["sat", "unsat"] | None
    model: np.ndarray | None = field(repr=False)
    exit_code: int | None
    signal: int | None
    cpu_s: float
    wall_s: float
    peak_mb: float
    counters: dict[str, float]
    proof: Path | None
    proof_bytes: int
    problems: tuple[str, ...]
    stdout_tail: str


TAIL = 4000
MODEL_FREE_STATISTICS = 1 << 20
"""Counters are looked for in so many bytes at the start and at the end of the output, without the model."""
OUT_OF_MEMORY = (
    "bad_alloc",
    "out of memory",
    "outofmemory",
    "cannot allocate memory",
    "memory exhausted",
    "virtual memory exhausted",
)


def run_solver(
    program: Program,
    cnf: Path,
    limits: RunLimits,
    *,
    core: int | None = None,
    scratch: Path,
    want_proof: bool = False,
    mode: str | None = None,
) -> SolverRun:
    """Run `program` on the file `cnf` (plain DIMACS) in its own jail.

    Args:
        core: processor to pin it to.
        scratch: folder of the host where its proof is put, as `proof`; made when absent. One run at a time
            may use it.
        want_proof: run the command line that writes a proof.
        mode: as for `evolake.jail.open_pool`.

    Raises:
        JailUnavailable: nothing was judged. InputError: no such file, or a proof is wanted of a program that
            writes none.
    """
    argv = program.argv
    proof: Path | None = None
    writable = {}
    if want_proof:
        if program.proof_argv is None or program.proof == "none":
            raise InputError(
                "this solver writes no proof",
                wanted="a program with a command line for proofs",
                do="run it without a proof",
            )
        argv = program.proof_argv
        scratch.mkdir(parents=True, exist_ok=True)
        proof = scratch / "proof"
        proof.unlink(missing_ok=True)
        proof.touch()
        os.utime(proof, (0, 0))
        writable = {"proof": proof}
    # the proof by its name alone, in the working folder: Kissat refuses a path whose folder is read-only
    command = [part.replace("{cnf}", "{work}/instance.cnf").replace("{proof}", "proof") for part in argv]
    run = DirectRun(
        ["{solver}/" + command[0], *command[1:]],
        program.folder,
        {"instance.cnf": cnf},
        writable,
        program.environment,
        program.tools,
    )
    held, shown = (
        Limits(
            cpu_s=item.cpu_s,
            wall_s=item.wall_s,
            memory_mb=item.memory_mb,
            file_mb=item.proof_mb if want_proof else 0,
            output_bytes=item.output_bytes,
        )
        for item in (limits, limits.shown or limits)
    )
    outcome = run_direct(run, held, core=core, mode=mode, shown=shown)
    return judge_run(outcome, program, limits, proof)


def judge_run(outcome: NativeOutcome, program: Program, limits: RunLimits, proof: Path | None) -> SolverRun:
    """Return the run that `outcome` amounts to."""
    reading = read_answer(outcome.stdout)
    answer = reading.answer if reading.answer in ("sat", "unsat") else None
    problems = [*reading.problems, *_disagreement(answer, outcome, program)]
    proof_bytes = proof.stat().st_size if proof is not None else 0
    proof_full = proof is not None and proof_bytes >= limits.proof_mb << 20
    if proof_full:
        problems.append(f"the proof reached its limit of {limits.proof_mb} MiB")
    status = _status(outcome, answer, problems, limits, proof_full=proof_full)
    if status in ("timeout", "clock", "memory", "crash", "unknown") and outcome.reason:
        problems.insert(0, outcome.reason)
    if status in (REFUSED, UNREAD):
        problems.insert(0, f"it ended with exit code {outcome.exit_code} and without an answer")
    text = (
        outcome.stdout
        if len(outcome.stdout) <= 2 * MODEL_FREE_STATISTICS
        else (outcome.stdout[:MODEL_FREE_STATISTICS] + b"\n" + outcome.stdout[-MODEL_FREE_STATISTICS:])
    )
    tail = without_model(text, TAIL)
    if complaints := outcome.stderr.decode("utf-8", "replace").strip():
        tail = f"{tail}\n[standard error]\n{complaints}"[-TAIL:]
    return SolverRun(
        status=status,
        answer=answer,
        model=reading.model,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        cpu_s=outcome.cpu_s,
        wall_s=outcome.wall_s,
        peak_mb=outcome.peak_mb,
        counters=read_counters(text, dict(program.statistics)),
        proof=proof,
        proof_bytes=proof_bytes,
        problems=tuple(problems),
        stdout_tail=tail,
    )


def starved(outcome: NativeOutcome, limits: RunLimits) -> bool:
    """Return whether the clock ended a run that could have used its processor time.

    Processor time decides and the clock is a guard. A program that waits by itself (it sleeps, or it is
    deadlocked) is not ready to run, so that it cannot turn a formula that it does not solve into one that
    does not count.
    """
    return (
        outcome.status == "timeout"
        and outcome.cpu_s < limits.cpu_s
        and outcome.cpu_s + outcome.delayed_s >= READY_SHARE * outcome.wall_s
    )


def _disagreement(answer: str | None, outcome: NativeOutcome, program: Program) -> list[str]:
    """Return what is wrong between the answer line and the exit code of a program that ended by itself."""
    if outcome.exit_code is None or outcome.status != "ok":
        return []
    codes = {code: name for name, code in program.exit_codes.items()}
    said = codes.get(outcome.exit_code)
    if answer is not None and said != answer:
        return [f"the answer is {answer} but the exit code is {outcome.exit_code}"]
    if answer is None and said is not None:
        return [f"exit code {outcome.exit_code} says {said} but there is no such answer"]
    return []


def _status(
    outcome: NativeOutcome, answer: str | None, problems: list[str], limits: RunLimits, *, proof_full: bool
) -> RunStatus:
    """Limits come first, since what was printed up to them may be cut short; then crashes; then what the
    answer is worth."""
    if starved(outcome, limits):
        return CLOCK
    if outcome.status in ("timeout", "cpu"):
        return "timeout"
    if outcome.peak_mb > limits.memory_mb:
        return "memory"
    ended_well = outcome.status == "ok" and answer is not None and not problems
    if not ended_well and _out_of_memory(outcome, limits):
        return "memory"
    if proof_full:
        return "unknown"
    if outcome.status == "output":
        return "malformed"
    if outcome.status != "ok":
        return "crash"
    if problems:
        return "malformed"
    if answer is None:
        if outcome.exit_code in (0, None):
            return "unknown"
        if _cannot_read(outcome):
            return UNREAD
        return REFUSED
    return "sat" if answer == "sat" else "unsat"


def _cannot_read(outcome: NativeOutcome) -> bool:
    return any(UNREADABLE.search(part[-TAIL:]) for part in (outcome.stderr, outcome.stdout))


def _out_of_memory(outcome: NativeOutcome, limits: RunLimits) -> bool:
    """Return whether a run without a good answer died for memory: it says so, or it had come beyond half of
    the limit, where doubling an array fails."""
    said = (outcome.stderr[-TAIL:] + outcome.stdout[-TAIL:]).decode("utf-8", "replace").lower()
    return any(words in said for words in OUT_OF_MEMORY) or (
        outcome.peak_mb > limits.memory_mb / 2 and outcome.status in ("ok", "killed")
    )
