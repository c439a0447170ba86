"""The runs that gates 2 to 4 judge, and what the gates need next to the variant to make them. Rows have the
columns of RUNS, and rules read nothing but rows.

- smoke: every formula as it is, renamed, and shuffled: a solver that knows a file by its looks answers
  differently on its copies;
- correctness: formulas with all models and proofs checked;
- stability: some formulas twice, and a family of growing formulas under a small memory limit; twice more with
  memory filled that the program has not written.

Stability also asks whether what a variant gains on formulas that can be known carries over to copies of them
that cannot: renamed and shuffled under the lake's secret, with the arguments and limits of any other run. To
a search they are draws of one distribution. A table of answers ends immediately on the first. Further copies
are padded with a few fresh variables and clauses: who searches otherwise than its seed on all copies but on
these decides by sizes.

What a program allocates is filled by the C library (`FILLS`); local variables are filled by the compiler, in
a second build, where the source leaves them as they are. Objects of the seed's own sources are kept for these
builds as for others, so that a variant compiles what it changes twice, and nothing else.
"""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from evolake.lake.blobs import BlobStore
from evolake.reading.formula import random_renaming, read_cnf_file, renamed, shuffled, write_dimacs
from evolake.solvers.execute import CORRECTNESS_LIMITS, SMOKE_LIMITS, STABILITY_LIMITS, Program, RunLimits
from evolake.solvers.measurement.measuring import Job, Progress, Rows, run_all
from evolake.solvers.proof import ProofLimits
from evolake.solvers.proof.checking import SMOKE_SHARE, new_key
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import build_by, open_program
from evolake.solvers.repository.variant import source_sha
from evolake.solvers.rules.outcomes import ANSWERS, COPY, FILLED, GROWING
from evolake.solvers.suites.fresh import CARRIED, PADDED
from evolake.solvers.suites.generators import pcg, planted_ksat, random_ksat
from evolake.solvers.suites.spec import Instance, Suite, with_files
from evolake.solvers.tables import CLOCK

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


DIGITS = 3


def carry_runs(runner: GateRunner, suite: Suite) -> Rows:
    """Return rows with the columns of RUNS, of suite `carried`: the formulas of `fresh.carried_suite`. Proofs
    are written and not checked."""
    unchecked = replace(runner, proof_limits=PROOF_LIMITS, verdicts=None)
    return runner.run([unchecked.job(item, suite, proof_share=0.0) for item in suite.instances])


def is_carried(row: Mapping[str, Any]) -> bool:
    """Return whether a row is one of `carry_runs`."""
    return row["suite"] == CARRIED


def carry_evidence(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the rules judge, one mapping per formula.

    instance: its name. original, copies: seconds of processor time, the limit if unanswered. conflicts:
    number of the copy (0: the original) -> its conflicts, padded: the same of the padded copies; null of a
    run that was not answered or reports none.

    Runs that the clock cut short are left out, and formulas whose original is one of them.
    """
    costs: dict[str, dict[int, float]] = defaultdict(dict)
    conflicts: dict[str, dict[int, int | None]] = defaultdict(dict)
    padded: dict[str, dict[int, int | None]] = defaultdict(dict)
    for row in rows:
        if row["status"] == CLOCK:
            continue
        name, place = _formula_of(row["instance"]), int(row["shuffle"])
        counted = padded if f"{COPY}{PADDED}" in row["instance"] else conflicts
        counted[name][place] = row["conflicts"] if row["answer"] in ANSWERS else None
        if counted is conflicts:
            seconds = float(row["cpu_s"]) if row["answer"] in ANSWERS else float(row["timeout_s"])
            costs[name][place] = round(seconds, DIGITS)
    return [
        {
            "instance": name,
            "original": seconds[0],
            "copies": [cost for number, cost in sorted(seconds.items()) if number],
            "conflicts": _by_copy(conflicts[name]),
            "padded": _by_copy(padded[name]),
        }
        for name, seconds in sorted(costs.items())
        if 0 in seconds
    ]


def _formula_of(instance: str) -> str:
    return instance.split(f"{COPY}{CARRIED}")[0].split(f"{COPY}{PADDED}")[0]


def _by_copy(counts: Mapping[int, int | None]) -> dict[str, int | None]:
    """Return the counts under the names that JSON gives back."""
    return {str(number): count for number, count in sorted(counts.items())}


@dataclass(frozen=True)
class GateContext:
    """What gates need next to the variant: formulas, limits, places.

    smoke, correctness, stability: suites with files. carried: formulas and copies of them, see
    `fresh.carried_suite`; None runs none. base_stability: gives the base's rows of the stability gate, none
    to judge without them; base_carried: gives what it took on those formulas. filling_build: whether a
    variant is built once more, by `filling_program`, for the runs with filled memory. programs: gives the
    loaded contents (`loaded_sha`) of known variants' programs -> their ids, for the rule against changes of
    nothing. cache: folder for executables and copies of formulas. verdicts: of verdicts on proofs. draw: key
    by which smoke proofs are drawn. executor: for the runs; None is threads of this process. progress: called
    after each run with the gate's name, how many are done and how many there are.
    """

    smoke: Suite
    correctness: Suite
    stability: Suite
    blobs: BlobStore
    cache: Path
    base_stability: Callable[[], Rows] = list
    carried: Suite | None = None
    base_carried: Callable[[], Rows] = list
    filling_build: bool = False
    programs: Callable[[], Mapping[str, str]] = dict
    smoke_limits: RunLimits = SMOKE_LIMITS
    correctness_limits: RunLimits = CORRECTNESS_LIMITS
    stability_limits: RunLimits = STABILITY_LIMITS
    proof_limits: ProofLimits = PROOF_LIMITS
    verdicts: Path | None = None
    draw: bytes = field(default_factory=new_key, repr=False)
    executor: Executor | None = None
    progress: Callable[[str, int, int], None] | None = None


def runs_of(
    gate: str,
    program: Program,
    context: GateContext,
    *,
    variant_id: str,
    cycle: str,
    filling: Program | None = None,
) -> Rows:
    """Return the runs that the gate judges, those on formulas that are no secret with the column COMPLAINT.

    filling: the program for the runs with filled memory; None: the same one.
    """
    progress = partial(context.progress, gate) if context.progress else None
    runner = GateRunner(
        variant_id,
        program,
        cycle,
        context.correctness_limits,
        context.proof_limits,
        context.verdicts,
        context.executor,
        progress,
    )
    if gate == "smoke":
        return smoke_runs(
            replace(runner, limits=context.smoke_limits),
            context.smoke,
            cache=context.cache,
            draw=context.draw,
            complaints=True,
        )
    if gate == "correctness":
        return correctness_runs(runner, context.correctness)
    steady = replace(runner, limits=context.stability_limits)
    rows = stability_runs(steady, context.stability, complaints=True) + filled_runs(
        replace(steady, program=filling or program), context.stability
    )
    return rows + (carry_runs(runner, context.carried) if context.carried else [])


FLAG = "-ftrivial-auto-var-init=pattern"
"""gcc (from 12) and clang: local variables without a value begin with bytes other than zero, which changes no
defined behaviour."""
VARIABLES = ("CFLAGS", "CXXFLAGS")


def filling_adapter(adapter: Adapter) -> Adapter | None:
    """Return the adapter that builds with FLAG; None if it sets no compiler flags to add it to."""
    flags = {name: f"{value} {FLAG}" for name, value in adapter.environment.items() if name in VARIABLES}
    return replace(adapter, environment={**adapter.environment, **flags}) if flags else None


def filling_program(
    folder: Path, adapter: Adapter, context: GateContext, *, seed: bool
) -> tuple[Program | None, str]:
    """Return the filling build of the repository at `folder`, and why there is none; (None, "") if none is
    asked for.

    seed: it is a seed as it was laid out. A build that ends well and did not compile with FLAG is none
    either: makefiles can drop it.
    """
    filling = filling_adapter(adapter)
    if not context.filling_build or filling is None:
        return None, ""
    made = build_by(context.executor, folder, filling, context.blobs, seed=seed)
    if not made.ok:
        return None, made.reason
    if not any(FLAG in line.split() for line in made.flags):
        return None, f"its build does not pass {FLAG} on"
    return open_program(made, filling, context.blobs, context.cache), ""


def filling_fault(
    folder: Path, base: Path, adapter: Adapter, context: GateContext
) -> tuple[Program | None, str]:
    """Return a variant's filling build, and why it has none although its seed has one: "" if it has one, or
    its seed has none (an old compiler)."""
    of_seed = source_sha(folder) == source_sha(base)
    program, reason = filling_program(folder, adapter, context, seed=of_seed)
    if of_seed or not reason or filling_program(base, adapter, context, seed=True)[0] is None:
        return program, ""
    return None, reason
