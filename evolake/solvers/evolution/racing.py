"""The race of a cycle: the best-ranked variants on formulas that neither ranking nor duels use, before anyone fights the champion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

from evolake.solvers.evolution.benchmarking import measuring_plan
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.measurement.benchmark import plan_jobs, run_jobs
from evolake.solvers.measurement.race import drawn_order, race
from evolake.solvers.suites import Instance


@dataclass
class Racing:
    """rows: of RACES, of the newest race. runs: rows of RUNS made in it."""

    workspace: Workspace
    executor: Executor
    cycle: str
    root_seed: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)

    def run(self, entrants: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """The survivors, best first; none where there is no race, since no more race than may challenge.

        entrants: id -> row of VARIANTS, best consensus rank first.
        """
        settings = self.workspace.settings
        if len(entrants) <= settings.challengers:
            return []
        suite, self.runs = self.workspace.race_suite(self.cycle), []
        programs = {name: self.workspace.program(row) for name, row in entrants.items()}

        def measure(names: Sequence[str], batch: Sequence[Instance]) -> dict[str, list[dict[str, Any]]]:
            jobs = plan_jobs(
                {name: programs[name] for name in names}, replace(suite, instances=tuple(batch)), measuring_plan(self.workspace, self.cycle),
                cycle=self.cycle,
            )
            result = run_jobs(jobs, self.executor, journal=self.workspace.journal("race", self.cycle)).to_dicts()
            self.runs += result
            return {name: [row for row in result if row["variant_id"] == name] for name in names}

        formulas = drawn_order(suite.instances, self.root_seed, self.cycle)
        survivors, standings = race(list(entrants), formulas, measure, keep=settings.challengers, first=settings.race_formulas)
        self.rows = [standing.row(self.cycle) for standing in standings]
        return survivors
