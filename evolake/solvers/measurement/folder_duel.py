"""Hold a duel between two repositories, pass by pass over a suite, until it is decided or nothing more can
decide it.

A pass runs both solvers on each formula, one right after the other on one core. After each pass the contest
of duels is held on all passes so far (`evolake.solvers.measurement.duel`). It may be looked at as often as
there may be passes, so each look gets its share of the error: an equal solver comes out as better in at most
2.5 % of duels, and as worse in as many. More passes only even out the noise of repeated runs; differences
between formulas are evened out by more formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.scratch import Scratch
from evolake.settings import load
from evolake.solvers.measurement.bench import Opened, SuiteChoice, open_folder
from evolake.solvers.measurement.benchmark import MeasuringOptions, MeasuringPlan
from evolake.solvers.measurement.duel import (
    Contender,
    Decision,
    DuelPlan,
    decide_duel,
    decision_rng,
    run_duel,
)
from evolake.solvers.measurement.duel_families import Helped, family_rows, helped
from evolake.solvers.seeds.seeding import seed_trees
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.opening import named_suite
from evolake.solvers.tables import DUELS

CYCLE = "duel"


@dataclass(frozen=True)
class FolderDuel:
    """A duel of two repositories. decision: None if one of them cannot be measured. rows: of
    CONTEST_FAMILIES.

    solver_s: processor seconds of all runs, without checks of proofs. remarks: what was repaired and left out
    in a folder of formulas.
    """

    opened: tuple[Opened, Opened]
    decision: Decision | None
    trials: pl.DataFrame = field(repr=False)
    families: tuple[dict[str, Any], ...] = ()
    helped: Helped | None = None
    solver_s: float = 0.0
    suite: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """Return "better", "worse", "undecided" or "failed", of the second."""
        if self.decision is None:
            return "failed"
        return (
            "undecided"
            if self.decision.verdict == "better" and not self.decision.wins
            else self.decision.verdict
        )

    @property
    def reasons(self) -> list[str]:
        """Return why a repository cannot be measured."""
        return [f"{item.folder}: {item.reason}" for item in self.opened if item.reason]


def duel_folders(
    folders: tuple[Path, Path],
    choice: SuiteChoice,
    options: MeasuringOptions,
    *,
    most: int,
    adapter: str | None = None,
    journal: Path | None = None,
    on_pass: Callable[[int, Decision], None] = lambda number, decision: None,
    on_limits: Callable[[str], None] = lambda line: None,
) -> FolderDuel:
    """Hold a duel of two repositories, the first as champion. most: passes at most. journal: keeps finished
    pairs; the same call continues from it. on_limits: given the limits as a line before the first pass.

    Raises:
        InputError: no such folder, suite or adapter, or both folders have the same sources.
        MachineryError: no compiler, or a jail that does not work.
    """
    if missing := [folder for folder in folders if not folder.is_dir()]:
        raise InputError(
            f"there is no folder {missing[0]}",
            wanted="a solver's repository",
            got=str(missing[0]),
            do="check the path",
        )
    settings = load(options.profile)
    sizes = settings.of(SolversSettings)
    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    suite = named_suite(
        choice.name,
        blobs,
        cache / "formulas",
        seeds=settings.seeds,
        trees=seed_trees(blobs, cache),
        count=choice.instances,
        statuses=choice.statuses,
    )
    first, second = (open_folder(folder, adapter, blobs, cache) for folder in folders)
    if first.program is None or second.program is None:
        return FolderDuel((first, second), None, DUELS.empty(), suite=suite.name, remarks=suite.remarks)
    if first.variant_id == second.variant_id:
        what = f"{folders[0]} and {folders[1]} have the same sources"
        raise InputError(what, wanted="two solvers", got=first.variant_id[:12], do="check the paths")
    duel = DuelPlan(
        Contender(first.variant_id, first.program),
        Contender(second.variant_id, second.program),
        suite,
        CYCLE,
        most,
    )
    plan = options.plan(sizes, cache)
    on_limits(limits_line(plan, len(suite.instances), most))
    with Scratch("duel") as scratch, ProcessPoolExecutor(options.processes(settings)) as executor:
        rows, decision = passes_until_decided(
            duel, plan, executor, journal or Path(scratch) / "pairs.jsonl", on_pass
        )
    trials = DUELS.frame(rows)
    families = family_rows(rows, {item.name: item.family for item in suite.instances})
    return FolderDuel(
        (first, second),
        decision,
        trials,
        tuple(families),
        helped(trials),
        float(trials["cpu_s"].sum()),
        suite.name,
        suite.remarks,
    )


def limits_line(plan: MeasuringPlan, formulas: int, most: int) -> str:
    """Return what a run and a proof may take, and the processor time that the duel takes at most."""
    run, proof = plan.limits, plan.proof_limits
    hours = 2 * formulas * most * run.cpu_s / 3600
    return (
        f"limits: {run.cpu_s:g} s a run (--timeout), {run.memory_mb} MiB of memory; a proof may have "
        f"{run.proof_mb} MiB and its check {proof.cpu_s:g} s. {formulas} formulas, at most {most} passes "
        f"of both: at most {hours:.3g} processor hours, without checks of proofs"
    )


def passes_until_decided(
    duel: DuelPlan,
    plan: MeasuringPlan,
    executor: Executor,
    journal: Path,
    on_pass: Callable[[int, Decision], None],
) -> tuple[list[dict[str, Any]], Decision]:
    """Return the trials and the decision after the pass that decided, or after the last."""
    for number in range(1, duel.pairs + 1):
        rows = run_duel(
            DuelPlan(duel.champion, duel.challenger, duel.suite, duel.cycle, number),
            plan,
            executor,
            journal=journal,
        )
        decision = decide_duel(
            DUELS.frame(rows), decision_rng(0, CYCLE, duel.challenger.variant_id), looks=duel.pairs
        )
        on_pass(number, decision)
        if decision.wins or decision.verdict == "worse":
            break
    return rows, decision
