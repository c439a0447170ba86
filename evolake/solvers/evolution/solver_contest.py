"""Select the champion: a race of the best-ranked variants on formulas that neither ranking nor duels use,
then duels with the one that is (`measurement.duel` measures and decides each); and what champion and seed do
on the holdout, formulas that nothing of the cycle rests on.

The champion runs the formulas first, since who can no longer reach it on them is stopped
(`measurement.race`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import polars as pl

from evolake.contest import power_sentence
from evolake.errors import LakeError
from evolake.gates import Verdict
from evolake.seeds import CycleSeeds
from evolake.solvers.evolution.cycle_benchmark import measuring_plan
from evolake.solvers.evolution.population import RankedCycle
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.judging import Judge, unsound_in
from evolake.solvers.measurement.benchmark import plan_jobs, run_jobs
from evolake.solvers.measurement.duel import (
    Contender,
    DuelPlan,
    decide_duel,
    decision_rng,
    families_of,
    run_duel,
)
from evolake.solvers.measurement.duel_families import family_rows
from evolake.solvers.measurement.race import costs_of, drawn_order, race
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.tables import CLOCK, DUELS, HOLDOUT_RUNS


@dataclass
class Racing:
    """rows: of RACES, of the newest race. runs: rows of RUNS made in it."""

    workspace: Workspace
    executor: Executor
    seeds: CycleSeeds
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
        cycle = self.seeds.cycle
        suite, self.runs = self.workspace.race_suite(self.seeds), []
        champion_id, rows = champion["variant_id"], {**rivals, champion["variant_id"]: champion}
        programs = cache(lambda name: self.workspace.program(rows[name]))

        def measure(names: Sequence[str], batch: Sequence[Instance]) -> dict[str, list[dict[str, Any]]]:
            jobs = plan_jobs(
                {name: programs(name) for name in names},
                replace(suite, instances=tuple(batch)),
                measuring_plan(self.workspace, cycle),
                cycle=cycle,
            )
            result = run_jobs(jobs, self.executor, journal=self.workspace.journal("race", cycle)).to_dicts()
            self.runs += result
            return {name: [row for row in result if row["variant_id"] == name] for name in names}

        formulas = drawn_order(suite.instances, self.seeds.root, cycle)
        survivors, standings = race(
            entrants,
            formulas,
            measure,
            keep=settings.challengers,
            first=settings.race_formulas,
            champion=costs_of(measure([champion_id], formulas)[champion_id]),
            waiting=waiting,
        )
        self.rows = [standing.row(cycle) for standing in standings]
        return survivors


@dataclass(frozen=True)
class Succession:
    """The champion after the duels, and whether that is a new one. Rows of DUELS, DECISIONS, RACES and
    CONTEST_FAMILIES, verdicts on all who took part."""

    champion_id: str
    changed: bool
    trials: list[dict[str, Any]]
    decisions: list[dict[str, Any]]
    verdicts: list[Verdict]
    races: list[dict[str, Any]]
    families: list[dict[str, Any]]


def decide_champion(
    workspace: Workspace,
    ranked: RankedCycle,
    executor: Executor,
    *,
    seeds: CycleSeeds,
    judge: Judge,
    unsound: Collection[str] = (),
    say: Callable[[str], None] = lambda text: None,
) -> Succession:
    """Return the best-ranked variants against the champion, on formulas that no role has seen; in the first
    cycle that is the best-ranked seed.

    Who has lost to it is asked again only where a duel has more formulas by now. Of several winners, the one
    with the largest gain. Where the champion is found unsound in a duel it falls: the best-ranked sound seed
    takes its place and is challenged in its turn. Where the settings have more variants race than may
    challenge, those who win the race do.

    Args:
        seeds: of this contest (`evolake.lake.secret`). judge: finds who is unsound by the runs of a duel.
        unsound: who is known to be.
        say: given which gain the duels can show, before the first.
    """
    population, rows, cycle = ranked.population, ranked.rows, seeds.cycle
    settings, fallen = workspace.settings, set(unsound)
    suite, trials, decisions, seen = workspace.duel_suite(seeds), [], [], []
    lost = {
        name
        for name, formulas in population.value("duels_lost", {}).items()
        if formulas >= len(suite.instances)
    }
    say(power_sentence(families_of(suite)))
    racing = Racing(workspace, executor, seeds)
    while True:
        incumbent = incumbent_of(ranked, fallen)
        lost = lost if incumbent == population.champion_id else set()
        holder = Contender(incumbent, workspace.program(rows[incumbent]))
        rivals = [
            name for name in ranked.order if name not in fallen and name != incumbent and name not in lost
        ]
        raced = racing.run(rows[incumbent], {name: rows[name] for name in rivals})
        if raced is not None:
            seen += racing.runs
            fallen |= unsound_in(judge(racing.runs))
            rivals = [name for name in raced if name not in fallen]
        for name in rivals[: settings.challengers]:
            duel = DuelPlan(
                holder, Contender(name, workspace.program(rows[name])), suite, cycle, settings.pairs
            )
            journal = workspace.journal("duel", cycle, incumbent, name)
            result = run_duel(duel, measuring_plan(workspace, cycle), executor, journal=journal)
            seen += result
            fallen |= unsound_in(judge(result))
            trials = [row for row in trials if row["challenger_id"] != name] + result
            decided = decide_duel(DUELS.frame(result), decision_rng(seeds.root, cycle, name)).row(cycle)
            decisions = [row for row in decisions if row["challenger_id"] != name] + [
                _refused(decided, fallen)
            ]
            if incumbent in fallen:
                break
        if incumbent not in fallen:
            champion_id = champion_after(ranked, decisions, fallen)
            families = family_rows(trials, {item.name: item.family for item in suite.instances})
            return Succession(
                champion_id,
                champion_id != population.champion_id,
                trials,
                decisions,
                judge(seen),
                racing.rows,
                families,
            )


def _refused(decision: dict[str, Any], unsound: Collection[str]) -> dict[str, Any]:
    """Return a row of DECISIONS; none wins who is blocked permanently, and none wins against who is."""
    named = [part for part in ("challenger", "champion") if decision[f"{part}_id"] in unsound]
    return decision | (
        {"wins": False, "reason": f"the {named[0]} is blocked permanently; {decision['reason']}"}
        if named
        else {}
    )


def incumbent_of(ranked: RankedCycle, unsound: Collection[str] = ()) -> str:
    """Return the champion before any duel, or the best-ranked seed if there is none that is sound.

    Raises:
        LakeError: no seed is sound either.
    """
    champion_id, seeds = (
        ranked.population.champion_id,
        {row["variant_id"] for row in ranked.population.seeds()},
    )
    for name in [*([champion_id] if champion_id else []), *(name for name in ranked.order if name in seeds)]:
        if name not in unsound:
            return name
    raise LakeError(
        "no sound solver is left to be champion",
        wanted="a seed whose answers hold",
        do="name other seeds in EVOLAKE_SOLVERS__SEEDS",
    )


def champion_after(
    ranked: RankedCycle, decisions: Sequence[Mapping[str, Any]], unsound: Collection[str] = ()
) -> str:
    """Return the champion after the rows of DECISIONS, of those who are not unsound: the winner with the
    largest gain, else who was challenged, else who was champion before."""
    sound = [row for row in decisions if row["wins"] and row["challenger_id"] not in unsound]
    winners = sorted(sound, key=lambda row: (-row["ratio"], row["challenger_id"]))
    if winners:
        return winners[0]["challenger_id"]
    challenged = [row["champion_id"] for row in decisions if row["champion_id"] not in unsound]
    return challenged[-1] if challenged else incumbent_of(ranked, unsound)


def measure_holdout(
    workspace: Workspace,
    ranked: RankedCycle,
    decisions: Sequence[Mapping[str, Any]],
    executor: Executor,
    *,
    cycle: str,
    judge: Judge,
    unsound: Collection[str] = (),
) -> tuple[pl.DataFrame, list[Verdict]]:
    """Return rows of HOLDOUT_RUNS of the champion and of its seed, where they are not measured yet, and
    verdicts on them. Every proof is checked; a champion that is found unsound falls, and the next one is
    measured.
    """
    settings, fallen, population, rows = workspace.settings, set(unsound), ranked.population, ranked.rows
    suite = workspace.suite("holdout")
    have = _measured(population.holdout.filter(pl.col("timeout_s") == settings.timeout_s), suite)
    result = HOLDOUT_RUNS.empty()
    while True:
        champion_id = champion_after(ranked, decisions, fallen)
        pair = [rows[champion_id], population.seed_of(rows[champion_id]["base"])]
        programs = {
            row["variant_id"]: workspace.program(row) for row in pair if row["variant_id"] not in have
        }
        plan = measuring_plan(workspace, cycle, frozenset(programs), settings.holdout_repeats)
        jobs = plan_jobs(programs, suite, plan, cycle=cycle)
        more = run_jobs(jobs, executor, journal=workspace.journal("holdout", cycle), schema=HOLDOUT_RUNS)
        result, have = pl.concat([result, more]), have | set(programs)
        verdicts = judge(result.to_dicts())
        fallen |= unsound_in(verdicts)
        if champion_id not in fallen:
            return result, verdicts


def _measured(runs: pl.DataFrame, suite: Suite) -> set[str]:
    """Variants that have a result on every formula of the suite, byte for byte."""
    asked = {item.sha for item in suite.instances}
    held = runs.filter(pl.col("status") != CLOCK).group_by("variant_id").agg(pl.col("formula_sha").unique())
    return {name for name, shas in held.iter_rows() if asked <= set(shas)}
