"""The race of a cycle: the best-ranked variants on formulas that neither ranking nor duels use, before anyone
fights the champion.

The champion runs the formulas first, since who can no longer reach it on them is stopped
(`measurement.race`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from evolake.solvers.evolution.benchmarking import measuring_plan
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.measurement.benchmark import plan_jobs, run_jobs
from evolake.solvers.measurement.race import costs_of, drawn_order, race
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

    def run(self, champion: Mapping[str, Any], rivals: Mapping[str, Mapping[str, Any]]) -> list[str] | None:
        """Return the survivors, best first; None if there is no race, since no more race than may challenge.

        Args:
            champion: row of VARIANTS. rivals: id -> row of VARIANTS, best consensus rank first; as many as
                the settings have it enter the race, the others wait.
        """
        settings = self.workspace.settings
        entrants, waiting = list(rivals)[: settings.race_entrants], list(rivals)[settings.race_entrants :]
        if len(entrants) <= settings.challengers:
            return None
        suite, self.runs = self.workspace.race_suite(self.cycle), []
        champion_id, rows = champion["variant_id"], {**rivals, champion["variant_id"]: champion}
        programs = cache(lambda name: self.workspace.program(rows[name]))

        def measure(names: Sequence[str], batch: Sequence[Instance]) -> dict[str, list[dict[str, Any]]]:
            jobs = plan_jobs(
                {name: programs(name) for name in names},
                replace(suite, instances=tuple(batch)),
                measuring_plan(self.workspace, self.cycle),
                cycle=self.cycle,
            )
            result = run_jobs(
                jobs, self.executor, journal=self.workspace.journal("race", self.cycle)
            ).to_dicts()
            self.runs += result
            return {name: [row for row in result if row["variant_id"] == name] for name in names}

        formulas = drawn_order(suite.instances, self.root_seed, self.cycle)
        survivors, standings = race(
            entrants,
            formulas,
            measure,
            keep=settings.challengers,
            first=settings.race_formulas,
            champion=costs_of(measure([champion_id], formulas)[champion_id]),
            waiting=waiting,
        )
        self.rows = [standing.row(self.cycle) for standing in standings]
        return survivors
