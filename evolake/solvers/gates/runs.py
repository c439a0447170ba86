"""The runs that gates 2 to 4 judge: smoke, correctness, stability. Rows have the columns of RUNS, and rules
read nothing but rows.

- smoke: every formula as it is, renamed, and shuffled: a solver that knows a file by its looks answers
  differently on its copies;
- correctness: formulas with all models and proofs checked;
- stability: some formulas twice, and a family of growing formulas under a small memory limit; twice more with
  memory filled that the program has not written.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.lake.blobs import BlobStore
from evolake.solvers.formula.cnf import random_renaming, read_cnf_file, renamed, shuffled, write_dimacs
from evolake.solvers.measurement.drawing import SMOKE_SHARE, new_key
from evolake.solvers.measurement.measuring import Job, Progress, Rows, run_all
from evolake.solvers.process.execute import Program, RunLimits
from evolake.solvers.proof import ProofLimits
from evolake.solvers.rules.outcomes import COPY, FILLED, GROWING
from evolake.solvers.suites.generators import pcg, planted_ksat, random_ksat
from evolake.solvers.suites.materialize import with_files
from evolake.solvers.suites.spec import Instance, Suite

STABILITY = "stability"
REPEATS = 2
GROWING_SIZES = (80, 120, 160, 200)
"""Variables of random 3-SAT near its threshold: conflicts, and what a solver keeps of them, grow with the
size."""
PROOF_LIMITS = ProofLimits()
LARGE_VARIABLES = 20_000
"""Variables of an easy formula: what a solver keeps for each variable and clause shows here."""
THRESHOLD, EASY = 4.26, 3.0
FILLS = tuple({"MALLOC_PERTURB_": value} for value in ("90", "165"))
"""What makes the C library fill memory that it hands out with one byte (0xA5, 0x5A), and memory that is given
back with the other."""


@dataclass(frozen=True)
class GateRunner:
    """A variant's built solver, and how its gates run it. verdicts: of verdicts on proofs. executor: None is
    threads of this process."""

    variant_id: str
    program: Program
    cycle: str
    limits: RunLimits
    proof_limits: ProofLimits = PROOF_LIMITS
    verdicts: Path | None = None
    executor: Executor | None = None
    progress: Progress | None = None

    def job(self, instance: Instance, suite: Suite, **other: Any) -> Job:
        """Return a run that waits for no core: gates ask what a solver says, not how fast, and must not wait
        for a benchmark."""
        return Job(
            self.variant_id,
            self.program,
            instance,
            suite.name,
            self.cycle,
            self.limits,
            proof_limits=self.proof_limits,
            verdicts=self.verdicts,
            measured=False,
            **other,
        )

    def run(self, jobs: Sequence[Job]) -> Rows:
        """Return the rows of these jobs, in their order."""
        return run_all(jobs, self.executor, self.progress)


def smoke_runs(
    runner: GateRunner, suite: Suite, *, cache: Path, draw: bytes | None = None, complaints: bool = False
) -> Rows:
    """Return rows of SMOKE_RUNS: each formula of `suite`, its renamed and its shuffled copy. A small share of
    the proofs is checked.

    Args:
        suite: with files. cache: folder for the copies; they are made once and then found there. draw: the
            key of the draw. complaints: see `Job`.
    """
    instances = [copy for instance in suite.instances for copy in (instance, *copies_of(instance, cache))]
    return runner.run(
        [
            runner.job(
                instance, suite, proof_share=SMOKE_SHARE, draw=draw or new_key(), complaints=complaints
            )
            for instance in instances
        ]
    )


def correctness_runs(runner: GateRunner, suite: Suite) -> Rows:
    """Return rows of CORRECTNESS_RUNS: each formula once, every model evaluated and every proof checked, so
    that no status need be known."""
    return runner.run([runner.job(instance, suite) for instance in suite.instances])


def stability_runs(runner: GateRunner, suite: Suite, *, complaints: bool = False) -> Rows:
    """Return rows with the columns of RUNS: the formulas of `stability_suite`, each twice."""
    return runner.run(
        [
            runner.job(instance, suite, repeat=repeat, complaints=complaints)
            for instance in suite.instances
            for repeat in range(REPEATS)
        ]
    )


def filled_runs(runner: GateRunner, suite: Suite) -> Rows:
    """Return rows with the columns of RUNS, of family FILLED: the formulas of `stability_suite`, once with
    each of FILLS.

    Proofs are written and not checked. A program of `filling_adapter` fills local variables as well, others
    only what they allocate.
    """
    jobs = []
    for number, fill in enumerate(FILLS, start=1):
        program = replace(runner.program, environment={**runner.program.environment, **fill})
        filled = replace(runner, program=program, proof_limits=PROOF_LIMITS, verdicts=None)
        copies = [
            replace(item, name=f"{item.name}{COPY}{FILLED}{number}", family=FILLED)
            for item in suite.instances
        ]
        jobs += [filled.job(item, suite, proof_share=0.0) for item in copies]
    return runner.run(jobs)


def stability_suite(blobs: BlobStore, cache: Path, root_seed: int = 0) -> Suite:
    """Return the growing formulas, the same for every variant of one root seed."""
    formulas = {
        f"threshold-{n}": random_ksat(n, round(THRESHOLD * n), 3, root_seed + n) for n in GROWING_SIZES
    }
    formulas[f"large-{LARGE_VARIABLES}"] = planted_ksat(
        LARGE_VARIABLES, round(EASY * LARGE_VARIABLES), 3, root_seed
    )
    instances = tuple(
        Instance(name, GROWING, "unknown", blobs.put(write_dimacs(formula)), base=name)
        for name, formula in formulas.items()
    )
    return with_files(Suite(STABILITY, instances), blobs, cache)


def copies_of(instance: Instance, cache: Path) -> list[Instance]:
    """Return a renamed and a shuffled copy of a formula, named after it; both drawn from its content
    alone."""
    assert instance.path is not None, "materialize the suite first"
    made = []
    for number, kind in enumerate(("renamed", "shuffled"), 1):
        seed = int(instance.sha[:12], 16) + number
        path = cache / f"{instance.sha}-{kind}.cnf"
        if not path.exists():
            formula, rng = read_cnf_file(instance.path, lenient=True), pcg(seed)
            copy = (
                renamed(formula, random_renaming(formula.variables, rng))
                if kind == "renamed"
                else shuffled(formula, rng, flip=False)
            )
            cache.mkdir(parents=True, exist_ok=True)
            beside = path.with_suffix(f".{_tag()}")
            beside.write_bytes(write_dimacs(copy))
            beside.replace(path)
        made.append(
            replace(instance, name=f"{instance.name}{COPY}{kind}", path=path, seed=seed, shuffle=number)
        )
    return made


def _tag() -> str:
    """Return a suffix that no other process or thread uses at the same time."""
    return f"{os.getpid()}-{threading.get_ident()}"
