"""What the gates need next to the variant, and the runs that they judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from evolake.lake.blobs import BlobStore
from evolake.solvers.gates.carry import carry_runs
from evolake.solvers.gates.runs import (
    PROOF_LIMITS,
    GateRunner,
    correctness_runs,
    filled_runs,
    smoke_runs,
    stability_runs,
)
from evolake.solvers.measurement.drawing import new_key
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.process.execute import (
    CORRECTNESS_LIMITS,
    SMOKE_LIMITS,
    STABILITY_LIMITS,
    Program,
    RunLimits,
)
from evolake.solvers.proof import ProofLimits
from evolake.solvers.suites.spec import Suite


@dataclass(frozen=True)
class GateContext:
    """What gates need next to the variant: formulas, limits, places.

    smoke, correctness, stability: suites with files. carried: formulas and copies of them, see
    `fresh.carried_suite`; None runs none. base_stability: gives the base's rows of the stability gate, none
    to judge without them; base_carried: gives what it took on those formulas. filling_build: whether a
    variant is built once more, by `filling`, for the runs with filled memory. programs: gives the loaded
    contents (`elf.loaded_sha`) of known variants' programs -> their ids, for the rule against changes of
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
