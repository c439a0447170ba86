"""Select the champion: duels of the best-ranked variants with the one that is; `measurement.duel` measures
and decides each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from evolake.cycle_seeds import CycleSeeds
from evolake.errors import LakeError
from evolake.gates import Verdict
from evolake.solvers.evolution.benchmarking import measuring_plan
from evolake.solvers.evolution.population import RankedCycle
from evolake.solvers.evolution.racing import Racing
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.soundness import Judge, unsound_in
from evolake.solvers.measurement.duel import Contender, DuelPlan, decide_duel, decision_rng, run_duel
from evolake.solvers.measurement.duel_families import family_rows
from evolake.solvers.tables import DUELS


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
) -> Succession:
    """Return the best-ranked variants against the champion, on formulas that no role has seen; in the first
    cycle that is the best-ranked seed.

    Who has lost to it is asked again only where a duel has more formulas by now. Of several winners, the one
    with the largest gain. Where the champion is found unsound in a duel it falls: the best-ranked sound seed
    takes its place and is challenged in its turn. Where the settings have more variants race than may
    challenge, those who win the race do.

    Args:
        judge: finds who is unsound by the runs of a duel. unsound: who is known to be.
    """
    population, rows, cycle = ranked.population, ranked.rows, seeds.cycle
    settings, fallen = workspace.settings, set(unsound)
    suite, trials, decisions, seen = workspace.duel_suite(cycle), [], [], []
    lost = {
        name
        for name, formulas in population.value("duels_lost", {}).items()
        if formulas >= len(suite.instances)
    }
    racing = Racing(workspace, executor, cycle, seeds.root)
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
