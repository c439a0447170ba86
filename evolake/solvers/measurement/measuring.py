"""Run a solver once on a formula, on a separate core; judge its answer by the formula itself, and check its
proof if it is drawn.

Every run of every stage (gates, benchmark, duel, holdout, the commands) is made here, and no run can be
distinguished from another: the same command line with a proof to be written, whatever answer is expected; a
separate copy of the formula, without a name or a date; one core; the same limits to be read
(`RunLimits.shown`). What remains to be seen is the formula itself and the time.

Checking comes after the core is given back and is not part of the measured time. An exception while one run
is judged is that run's fault and a value; a failure of the machinery passes through
(`evolake.gates.boundary`). A process that measures holds a core's lock, a file that all processes of one user
on one host share, for as long as the solver runs: two pools, two lines or a cluster's workers on the same
host never measure on the same core at the same time.
"""

from __future__ import annotations

import fcntl
import os
import platform
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evolake.compute.needs import TIMED, UNTRUSTED, needs
from evolake.errors import InputError, MachineryError
from evolake.gates.boundary import Raised, contained
from evolake.reading.formula import falsified_clauses, read_cnf_file
from evolake.scratch import Scratch
from evolake.solvers.execute import Program, RunLimits, SolverRun, run_solver
from evolake.solvers.proof import ProofLimits, ProofVerdict
from evolake.solvers.proof.checking import check_once, is_drawn, new_key
from evolake.solvers.proof.drat import ProofSpelling
from evolake.solvers.suites import Instance
from evolake.solvers.tables import CLOCK, REFUSED, UNREAD

PATIENCE_S = 0.02


def usable_cores() -> list[int]:
    """Return cores that this process may run on."""
    return sorted(os.sched_getaffinity(0))


@contextmanager
def held_core(cores: Sequence[int] | None = None, folder: Path | None = None) -> Iterator[int]:
    """Yield a core of `cores` (default: all usable) that no other process measures on; waits until one is
    free.

    Args:
        folder: where the locks are; default: a folder of this user's below the system's temporary folder.
    """
    wanted = list(cores) if cores is not None else usable_cores()
    place = folder or _lock_folder()
    start = os.getpid() % len(wanted)
    while True:
        for core in [*wanted[start:], *wanted[:start]]:
            if (descriptor := _lock(place, core)) is None:
                continue
            try:
                yield core
                return
            finally:
                os.close(descriptor)
        time.sleep(PATIENCE_S)


@contextmanager
def shared_core(cores: Sequence[int] | None = None, folder: Path | None = None) -> Iterator[int]:
    """Yield a core of `cores` (default: all usable), at best one that no other process measures on; never
    waits. For runs whose times are not compared."""
    wanted = list(cores) if cores is not None else usable_cores()
    place = folder or _lock_folder()
    start = random.randrange(len(wanted))
    for core in [*wanted[start:], *wanted[:start]]:
        if (descriptor := _lock(place, core)) is not None:
            try:
                yield core
                return
            finally:
                os.close(descriptor)
    yield wanted[start]


def _lock(place: Path, core: int) -> int | None:
    """Return the descriptor that holds the core's lock, None where another has it."""
    descriptor = os.open(place / str(core), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _lock_folder() -> Path:
    place = Path(tempfile.gettempdir()) / f"evolake-cores-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        raise MachineryError(
            f"{place} belongs to another user",
            wanted="a folder of our own for the locks of cores",
            do="remove it or set TMPDIR",
        )
    return place


COUNTERS = ("conflicts", "decisions", "propagations", "restarts", "instructions")
PROBLEMS_LENGTH = 500
COMPLAINT, COMPLAINT_LENGTH = "complaint", 1500
MOST_COUNTED = 2.0**63
RERUNS, LONGER = 2, 3.0
"""A run that the clock cut short is made again so many times, each with a clock so many times longer; see
`execute.starved`."""
Progress = Callable[[int, int], None]
Rows = list[dict[str, Any]]
SPELLINGS: dict[str, ProofSpelling] = {
    "none": "auto",
    "drat-text": "drat-text",
    "drat-binary": "drat-binary",
    "lrat-text": "lrat-text",
    "lrat-binary": "lrat-binary",
}


@dataclass(frozen=True)
class Job:
    """One run to make. Plain data: it may travel to another process or host that sees the same files.

    proof_share: the share of UNSAT answers whose proofs are checked; draw: the key of the draw, see
    `checking`. second_checker: whether two independent checkers must agree, where two exist. verdicts: folder
    of verdicts on proofs that are kept, see `proof_cache`; None keeps none. measured: whether its time
    counts, so that it waits for its own core. complaints: whether its row shall also have the column
    COMPLAINT, which no table has: the end of what a run wrote that did not end well. Only for formulas that
    anybody may see, since a program can write its formula.
    """

    variant_id: str
    program: Program
    instance: Instance
    suite: str
    cycle: str
    limits: RunLimits
    repeat: int = 0
    proof_share: float = 1.0
    second_checker: bool = False
    proof_limits: ProofLimits = field(default_factory=ProofLimits)
    cores: tuple[int, ...] | None = None
    scratch: Path | None = None
    verdicts: Path | None = None
    draw: bytes = field(default_factory=new_key, repr=False, compare=False)
    measured: bool = True
    complaints: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two jobs the same measurement."""
        program = self.program.argv if self.program.proof_argv is None else self.program.proof_argv
        return (
            self.variant_id,
            self.suite,
            self.instance.name,
            self.instance.sha,
            self.repeat,
            self.limits.cpu_s,
            self.limits.memory_mb,
            self.proof_share,
            self.second_checker,
            " ".join(program),
            self.cycle,
        )


@dataclass(frozen=True)
class Judgement:
    """What is known of a run's answer.

    wrong: refuted by the formula or by its known status. holds: nothing that was looked at speaks against it.
    certificate: what proves it.
    """

    wrong: bool = False
    holds: bool = False
    checked: bool = False
    certificate: Literal["model", "proof"] | None = None
    proof_status: str | None = None
    proof: ProofVerdict | None = None
    problems: tuple[str, ...] = ()


@needs(lambda job: TIMED if job.measured else UNTRUSTED)
def measure(job: Job) -> dict[str, Any]:
    """Return a row of RUNS. Blocks until a core is free."""
    return measure_together([job])[0]


def measure_together(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Return a row of RUNS for each job, run one after the other on one core, which is held throughout;
    judged when all have run.

    Raises:
        InputError: a formula that is no file yet. JailUnavailable: the jail itself failed.
    """
    with ExitStack() as stack:
        folders = [
            Path(stack.enter_context(Scratch("run", dir=job.scratch, ignore_cleanup_errors=True)))
            for job in jobs
        ]
        with _core(jobs[0]) as core:
            runs = [_run(job, core, folder) for job, folder in zip(jobs, folders, strict=True)]
        return [_judged_run(job, run) for job, run in zip(jobs, runs, strict=True)]


def file_of(job: Job) -> Path:
    """Return the file of a job's formula. Raises InputError where the suite was not materialized."""
    if job.instance.path is None:
        raise InputError(
            f"the formula {job.instance.name} is no file yet",
            wanted="a materialized suite",
            do="call materialize_suite first",
        )
    return job.instance.path


def _core(job: Job) -> AbstractContextManager[int]:
    return held_core(job.cores) if job.measured else shared_core(job.cores)


def _run(job: Job, core: int, scratch: Path) -> SolverRun:
    """Return the one way in which a solver is run on a formula."""
    formula = scratch / "formula"
    shutil.copyfile(file_of(job), formula)
    formula.chmod(0o444)
    os.utime(formula, (0, 0))
    limits, want_proof = job.limits, job.program.proof_argv is not None
    result = contained(
        run_solver, job.program, formula, limits, core=core, scratch=scratch, want_proof=want_proof
    )
    for _ in range(RERUNS):
        if isinstance(result, Raised) or result.status != CLOCK:
            break
        limits = replace(limits, wall_s=LONGER * limits.wall_s)
        result = contained(
            run_solver, job.program, formula, limits, core=core, scratch=scratch, want_proof=want_proof
        )
    formula.unlink()
    return _unread(result) if isinstance(result, Raised) else result


def _unread(result: Raised) -> SolverRun:
    """Return a run whose output could not be read, since reading it raised."""
    return SolverRun("malformed", None, None, None, None, 0.0, 0.0, 0.0, {}, None, 0, (result.reason,), "")


def _judged_run(job: Job, run: SolverRun) -> dict[str, Any]:
    result = contained(judge, job, run, file_of(job))
    if isinstance(result, Raised):
        return row_of(
            job,
            replace(run, status="malformed", problems=(result.reason, *run.problems)),
            Judgement(checked=True),
        )
    return row_of(job, run, result)


def judge(job: Job, run: SolverRun, formula: Path) -> Judgement:
    """Judge the answer of a well-formed run by the file `formula`; a run that is not well-formed has no
    answer to judge."""
    if run.status == "sat":
        return judge_model(formula, run.model if run.model is not None else np.zeros(0, dtype=np.int32))
    if run.status == "unsat":
        return _judge_unsat(job, run, formula)
    return Judgement()


def judge_model(formula: Path, model: np.ndarray) -> Judgement:
    """Judge a model: it is a certificate if it satisfies every clause; any other refutes the answer that came
    with it."""
    falsified = falsified_clauses(read_cnf_file(formula, lenient=True), model)
    if len(falsified):
        said = (
            f"the model satisfies not one literal of {len(falsified)} clauses, clause "
            f"{int(falsified[0]) + 1} the first"
        )
        return Judgement(wrong=True, checked=True, problems=(said,))
    return Judgement(holds=True, checked=True, certificate="model")


def _judge_unsat(job: Job, run: SolverRun, formula: Path) -> Judgement:
    if job.instance.status == "SAT":
        return Judgement(
            wrong=True,
            checked=True,
            proof_status="unchecked",
            problems=("says UNSAT of a formula that has a model",),
        )
    if run.proof is None:
        return Judgement(checked=True, proof_status="unknown", problems=("this solver writes no proof",))
    if not run.proof_bytes and not _holds_empty_clause(formula):
        return Judgement(checked=True, proof_status="missing", problems=("its proof is missing",))
    if not is_drawn(
        job.draw, f"{job.instance.sha} {job.instance.shuffle}", job.repeat, job.proof_share
    ):  # copies are formulas of their own
        return Judgement(proof_status="unchecked")
    verdict = check_once(
        formula,
        run.proof,
        limits=job.proof_limits,
        second=job.second_checker,
        spelling=SPELLINGS[job.program.proof],
        folder=job.verdicts,
    )
    if verdict.verdict == "verified":
        return Judgement(
            holds=True, checked=True, certificate="proof", proof_status="verified", proof=verdict
        )
    return Judgement(
        checked=True,
        proof_status=verdict.verdict,
        proof=verdict,
        problems=(f"proof {verdict.verdict}: {verdict.reason}",),
    )


def _holds_empty_clause(formula: Path) -> bool:
    """Return whether there is nothing to be derived: an empty proof of such a formula is a whole one, and
    some solvers write no other."""
    return bool((np.diff(read_cnf_file(formula, lenient=True).starts) == 0).any())


def row_of(job: Job, run: SolverRun, judgement: Judgement) -> dict[str, Any]:
    """Return the row of RUNS that a judged run makes."""
    item, proof = job.instance, judgement.proof
    answer = {"sat": "SAT", "unsat": "UNSAT"}.get(run.answer or "")
    return {
        "variant_id": job.variant_id,
        "cycle": job.cycle,
        "suite": job.suite,
        "instance": item.name,
        "family": item.family,
        "expected": item.status,
        "formula_sha": item.sha,
        "shuffle": item.shuffle,
        "seed": item.seed,
        "repeat": job.repeat,
        "status": "wrong" if judgement.wrong else run.status,
        "answer": answer,
        "solved": judgement.holds and run.cpu_s <= job.limits.cpu_s,
        "answer_checked": judgement.checked,
        "certificate": judgement.certificate,
        "proof_status": judgement.proof_status,
        "proof_checker": proof.checker if proof else None,
        "proof_sha": proof.proof_sha if proof else None,
        "proof_bytes": int(run.proof_bytes) if run.proof is not None else None,
        "proof_cpu_s": float(proof.cpu_s) if proof else None,
        "problems": "; ".join([*run.problems, *judgement.problems])[:PROBLEMS_LENGTH] or None,
        "cpu_s": round(float(run.cpu_s), 6),
        "wall_s": round(float(run.wall_s), 6),
        "peak_mb": round(float(run.peak_mb), 3),
        **{name: _whole(run.counters.get(name)) for name in COUNTERS},
        "timeout_s": float(job.limits.cpu_s),
        "memory_mb": int(job.limits.memory_mb),
        "host": platform.node(),
        **({COMPLAINT: _complaint(run)} if job.complaints else {}),
    }


def _complaint(run: SolverRun) -> str:
    """Return the end of what a run wrote that ended in a crash or without a well-formed answer: of standard
    error, where it wrote there."""
    if run.status not in ("crash", "malformed", "memory", REFUSED, UNREAD):
        return ""
    printed, marked, complained = run.stdout_tail.rpartition("[standard error]\n")
    return (complained if marked else printed or complained)[-COMPLAINT_LENGTH:].strip()


def _whole(counter: float | None) -> int | None:
    """Return a counter as a table can hold it; None for what is no count."""
    return int(counter) if counter is not None and 0 <= counter < MOST_COUNTED else None


def run_all(jobs: Sequence[Job], executor: Executor | None = None, progress: Progress | None = None) -> Rows:
    """Return `measure` over jobs, in their order. Without an executor: threads, one a core, since a run is a
    process that is waited for."""
    if executor is None:
        with ThreadPoolExecutor(max(1, len(usable_cores()))) as threads:
            return run_all(jobs, threads, progress)
    rows = []
    for row in executor.map(measure, jobs):
        rows.append(row)
        if progress:
            progress(len(rows), len(jobs))
    return rows
