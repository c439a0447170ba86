"""Measure repositories where they are: laid out or not, built in the jail, run on a suite (`evolake solvers
bench`), or held against each other in a duel, until it is decided or nothing more can decide it (`evolake
solvers duel`). Builds and formulas go into the lake's blobs, so that measuring again builds nothing again.

A pass of a duel runs both solvers on each formula, one right after the other on one core. After each pass the
contest is held on all passes so far (`evolake.solvers.measurement.duel`). Each look gets its share of the
error: an equal solver comes out as better in at most 2.5 % of duels, and as worse in as many. More passes
only even out the noise of repeated runs; differences between formulas are evened out by more formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from evolake.compute.local import LocalExecutor
from evolake.contest import power_sentence
from evolake.errors import InputError
from evolake.lake import BlobStore, Lake
from evolake.scratch import Scratch
from evolake.settings import load
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import MeasuringOptions, MeasuringPlan, plan_jobs, run_jobs
from evolake.solvers.measurement.duel import (
    Contender,
    Decision,
    DuelPlan,
    decide_duel,
    decision_rng,
    families_of,
    run_duel,
    shortest_s,
)
from evolake.solvers.measurement.duel_families import Helped, family_rows, helped
from evolake.solvers.measurement.metrics import compute_metrics
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.seeding import seed_trees
from evolake.solvers.repository.variant import (
    as_variant,
    check_layout,
    is_laid_out,
    repository_in,
    source_sha,
)
from evolake.solvers.rules.outcomes import NO_PROOF, fault_of
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.folders import named_suite
from evolake.solvers.tables import DUELS, METRICS, RUNS, UNREAD

BENCH_CYCLE = "bench"
NAMED = 5


@dataclass(frozen=True)
class Opened:
    """A repository and what came of opening it. reason: why it cannot be measured, empty when it can."""

    folder: Path
    variant_id: str
    program: Program | None
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """Measured repositories. verdict: "measured", or "failed" where one could not be built or an answer is
    refuted or comes without a proof that can be read; reasons say which."""

    opened: tuple[Opened, ...]
    runs: pl.DataFrame = field(repr=False)
    metrics: pl.DataFrame = field(repr=False)
    suite_sha: str
    remarks: tuple[str, ...] = ()

    @property
    def reasons(self) -> list[str]:
        """What is wrong, one sentence each."""
        names = {item.variant_id: item.folder for item in reversed(self.opened)}
        bad = self.runs.filter(
            (pl.col("status") == "wrong") | pl.col("proof_status").is_in(NO_PROOF)
        ).to_dicts()
        said = [f"{names[row['variant_id']]}: the answer on {row['instance']} {_fault(row)}" for row in bad]
        return [f"{item.folder}: {item.reason}" for item in self.opened if item.reason] + said

    @property
    def unread(self) -> list[str]:
        """Return which formulas a program could not read, one sentence a repository: they count as
        unsolved."""
        names = {item.variant_id: item.folder for item in reversed(self.opened)}
        found = (
            self.runs.filter(pl.col("status") == UNREAD)
            .group_by("variant_id")
            .agg(pl.col("instance").unique().sort())
        )
        return [
            f"{names[row['variant_id']]} says that it cannot read {len(row['instance'])} formulas, which "
            "count as unsolved: "
            + ", ".join(row["instance"][:NAMED])
            + (", ..." if len(row["instance"]) > NAMED else "")
            for row in found.sort("variant_id").to_dicts()
        ]

    @property
    def short(self) -> str:
        """Return that the figures rank by milliseconds, if no run took longer than the start of a program;
        else ""."""
        if self.runs.is_empty():
            return ""
        longest, least = float(self.runs["cpu_s"].max()), shortest_s(float(self.runs["timeout_s"].min()))  # pyright: ignore[reportArgumentType]
        if longest >= least:
            return ""
        return (
            f"no run took more than {1000 * longest:.3g} ms, and below {1000 * least:.3g} ms the start of "
            "a program decides: these figures rank "
            "nothing, take harder formulas"
        )

    @property
    def verdict(self) -> str:
        """One word."""
        return "failed" if self.reasons else "measured"

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        folders = {item.variant_id: str(item.folder) for item in reversed(self.opened)}
        rows = [
            {"folder": folders[row["variant_id"]], **row} for row in self.metrics.drop("cycle").to_dicts()
        ]
        words = {
            "reasons": self.reasons,
            "remarks": list(self.remarks),
            "unread": self.unread,
            "short": self.short or None,
        }
        return {"verdict": self.verdict} | words | {"suite_sha": self.suite_sha, "metrics": rows}


def _fault(row: dict[str, Any]) -> str:
    return f"{fault_of(row['status'], row['proof_status'])}: {row['problems']}"


@dataclass(frozen=True)
class SuiteChoice:
    """A suite, by name or by folder. instances: only the first so many of its formulas, 0 for all. statuses:
    of a folder's formulas."""

    name: str
    instances: int = 0
    statuses: Path | None = None


def bench_folders(
    folders: Sequence[Path],
    suite: SuiteChoice,
    options: MeasuringOptions,
    *,
    adapter: str | None = None,
    journal: Path | None = None,
    on_progress: Callable[[int, int, Any], None] | None = None,
) -> Report:
    """Measure the repositories in `folders` on a suite; repositories with the same sources are measured
    once.

    Raises:
        InputError: no such folder, suite or adapter. MachineryError: no compiler, or a jail that does not
            work.
    """
    settings = load(options.profile)
    sizes = settings.of(SolversSettings)
    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    if missing := [folder for folder in folders if not folder.is_dir()]:
        raise InputError(
            f"there is no folder {missing[0]}", wanted="a solver's repository", do="check the path"
        )
    formulas = named_suite(
        suite.name,
        blobs,
        cache / "formulas",
        seeds=settings.seeds,
        trees=seed_trees(blobs, cache),
        count=suite.instances,
        statuses=suite.statuses,
    )
    opened = tuple(open_folder(folder, adapter, blobs, cache) for folder in folders)
    programs = {item.variant_id: item.program for item in opened if item.program is not None}
    if not programs:
        return Report(opened, RUNS.empty(), METRICS.empty(), formulas.sha, formulas.remarks)
    jobs = plan_jobs(programs, formulas, options.plan(sizes, cache), cycle=BENCH_CYCLE)
    with LocalExecutor(options.processes(settings)) as executor:
        runs = run_jobs(jobs, executor, journal=journal, on_progress=on_progress)
    return Report(opened, runs, compute_metrics(runs), formulas.sha, formulas.remarks)


def open_folder(folder: Path, adapter_name: str | None, blobs: BlobStore, cache: Path) -> Opened:
    """Return the repository's built solver, or why there is none. With an adapter's name an upstream tree is
    laid out first, as `verify` does, and a repository needs no documents next to its variant.toml.

    Raises:
        InputError: no such adapter, or an upstream tree that it does not fit. MachineryError: no compiler.
            JailUnavailable: nothing was built.
    """
    tree = repository_in(folder)
    if adapter_name is None and (problems := check_layout(tree)):
        hint = "" if is_laid_out(tree) else "; for an upstream tree name its family: --adapter NAME"
        return Opened(folder, "", None, f"it is not laid out as a variant: {'; '.join(problems[:3])}{hint}")
    with Scratch("bench") as parent:
        variant, adapter, _ = as_variant(tree, adapter_name, Path(parent))
        build = build_variant(variant, adapter, blobs)
        if not build.ok:
            return Opened(folder, source_sha(variant), None, f"it does not build: {build.reason}")
        return Opened(folder, source_sha(variant), open_program(build, adapter, blobs, cache))


DUEL_CYCLE = "duel"


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
        DUEL_CYCLE,
        most,
    )
    plan = options.plan(sizes, cache)
    on_limits(limits_line(plan, len(suite.instances), most))
    on_limits(power_sentence(families_of(suite), most))
    with Scratch("duel") as scratch, LocalExecutor(options.processes(settings)) as executor:
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
            DUELS.frame(rows), decision_rng(0, DUEL_CYCLE, duel.challenger.variant_id), looks=duel.pairs
        )
        on_pass(number, decision)
        if decision.wins or decision.verdict == "worse":
            break
    return rows, decision
