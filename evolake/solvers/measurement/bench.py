"""Measure repositories where they are: laid out or not, built in the jail, run on a suite. What `evolake
solvers bench` does.

Builds and formulas go into the lake's blobs, so that measuring again builds nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake import BlobStore, Lake
from evolake.scratch import Scratch
from evolake.settings import load
from evolake.solvers.measurement.benchmark import MeasuringOptions, plan_jobs, run_jobs
from evolake.solvers.measurement.duel import shortest_s
from evolake.solvers.measurement.metrics import compute_metrics
from evolake.solvers.process.execute import Program
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.variant import (
    as_variant,
    check_layout,
    is_laid_out,
    repository_in,
    source_sha,
)
from evolake.solvers.rules.outcomes import NO_PROOF, fault_of
from evolake.solvers.seeds.seeding import seed_trees
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.opening import named_suite
from evolake.solvers.tables import METRICS, RUNS, UNREAD

CYCLE = "bench"
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
    proofs: Mapping[str, Any] | None = None,
) -> Report:
    """Measure the repositories in `folders` on a suite; repositories with the same sources are measured
    once.

    proofs: in place of the profile's proof_mb, proof_timeout_s and proof_memory_mb; None leaves one as it is.

    Raises:
        InputError: no such folder, suite or adapter. MachineryError: no compiler, or a jail that does not
            work.
    """
    settings = load(options.profile)
    sizes = settings.of(SolversSettings).model_copy(
        update={name: value for name, value in (proofs or {}).items() if value is not None}
    )
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
    jobs = plan_jobs(programs, formulas, options.plan(sizes, cache), cycle=CYCLE)
    with ProcessPoolExecutor(options.processes(settings)) as executor:
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
