"""The closing of a cycle: the meta review, the designers' analyses, the succession, the population that
enters the next cycle; and the pace of the search.

Pace is candidates an hour, and the share of the processors' time that went into simulating designs, both of
the run that makes the cycle, from its own event log. What is not simulation is everything else that an hour
holds: tracing in jails, compiling kernels, scoring, models that are waited for, Dagster's own steps. A run
that makes a part of a cycle has no pace.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.designs.checks import GUARDS
from assets.designs.line import archive, arrived_bundles, jails, line, so_far
from assets.line import SAID_OF_CYCLE
from assets.shown import figures_of
from assets.store import LineStore
from evolake.designs.evolution.scoring import consensus_from
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ABLATIONS, ANALYSES, DECISIONS, DESIGNS, DUELS, REVIEWS
from evolake.lake import DERIVATIONS, EVALUATIONS
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.designs.evolution.design_contest import Succession
    from evolake.designs.evolution.population import Population


def duel_for_champion(
    store: LineStore, compute: ComputeResource, population: Population, final_ranking: pl.DataFrame
) -> Succession:
    """Return the champion after the duel of the consensus' first design with the one that is."""
    from evolake.designs.evolution.design_contest import contenders, decide_champion

    order = final_ranking.sort("rank")["design_id"].to_list()
    contest = store.contest(population.designs["design_id"])
    store.reveal(contest)
    return decide_champion(
        *contenders(population, order, store.text),
        executor=compute.executor(),
        settings=store.settings.of(DesignsSettings),
        profile=store.settings.profile,
        cycle_seeds=contest,
    )


def ablate_champion(
    store: LineStore, compute: ComputeResource, jail: JailResource, population: Population, champion_id: str
) -> None:
    """Publish what each term of a new champion does on each kind of formulas; nothing of one that was
    champion before, or has no genome."""
    from evolake.designs.evolution.ablation import ablation_levels, ablation_rows, traced_ablations
    from evolake.designs.evolution.breeding import CORE_TIMES
    from evolake.designs.genome.open_ablation import ablations
    from evolake.designs.genome.open_genome import read_genome

    settings, row = store.settings.of(DesignsSettings), population.row(champion_id)
    genome = read_genome(row["genome"]) if row["genome"] else None
    if settings.ablation_n == 0 or champion_id == population.champion_id or genome is None:
        store.extra(ABLATIONS, [])
        return
    without = traced_ablations(ablations(genome), jails(jail))
    levels = ablation_levels(settings, store.cycle, store.settings.seed)
    rows = ablation_rows(
        champion_id,
        store.text(row["traced_sha"]),
        without,
        compute.executor(),
        levels,
        store.cycle,
        CORE_TIMES * settings.low.core_s,
    )
    store.extra(ABLATIONS, rows)


def publish_champion(store: LineStore, population: Population, succession: Succession) -> None:
    """Publish the duel, the champion, and the runs that it was decided on, as rows of the shared tables."""
    from evolake.designs.evolution.design_contest import evaluation_rows

    store.extra(DUELS, succession.trials, "champion_trials")
    store.extra(DECISIONS, succession.decisions, "champion_decisions")
    scores = {row["design_id"]: row["consensus"] for row in population.ranking.to_dicts()}
    store.champion(succession.champion_id, scores.get(succession.champion_id))
    store.artifacts([population.row(succession.champion_id) | {"cycle": store.cycle}], "champion")
    store.side(EVALUATIONS, evaluation_rows(succession.trials))


OPENS = "directions"
SIMULATING = ("candidates", "experiments", "promoted_experiments", "tuning")
"""Assets whose metadata `cpu_s` is processor time that simulations took."""


@dataclass(frozen=True)
class Pace:
    """Candidates that were proposed or raced, seconds from the opening of the cycle to its close, processor
    seconds of simulating, and workers."""

    candidates: int
    wall_s: float
    simulating_cpu_s: float
    workers: int

    @property
    def candidates_an_hour(self) -> float:
        """Return the candidates per hour of wall time."""
        return 3600 * self.candidates / self.wall_s

    @property
    def simulating_share(self) -> float:
        """Of all that the workers could have done, 0 to 1."""
        return self.simulating_cpu_s / (self.wall_s * self.workers)

    def metadata(self) -> dict[str, float | str]:
        """Return the figures as metadata of an asset: numbers and a sentence."""
        numbers = {
            "candidates_an_hour": round(self.candidates_an_hour, 1),
            "simulating_share": round(self.simulating_share, 3),
        }
        return numbers | {SAID_OF_CYCLE: str(self)}

    def __str__(self) -> str:
        return (
            f"{self.candidates} candidates in {self.wall_s:.0f} s, {self.candidates_an_hour:.0f} an hour; "
            f"{self.simulating_share:.0%} of the time of {self.workers} workers was simulation"
        )


def pace_of(store: LineStore, candidates: int, closing_cpu_s: float, now: float, workers: int) -> Pace | None:
    """Return the pace of the cycle that `store`'s asset closes at `now` (seconds since 1970); None where
    another run made a part of it.

    `closing_cpu_s` is what the closing asset itself simulated. Time between the opening and the close in
    which other lines of the run worked counts too: the machine was theirs as well.
    """
    instance, run_id = store.context.instance, store.run_id
    made: dict[str, float] = {}
    opening: str | None = None
    for record in instance.get_records_for_run(
        run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION
    ).records:
        result = record.asset_materialization
        if result is not None and result.asset_key.path[0] == line.name and result.partition == store.cycle:
            made[result.asset_key.path[-1]] = _number(result.metadata.get("cpu_s"))
            if result.asset_key.path[-1] == OPENS:
                opening = record.event_log_entry.step_key
    if opening is None or not made.keys() >= set(SIMULATING):
        return None
    began = next(
        (stat.start_time for stat in instance.get_run_step_stats(run_id, [opening]) if stat.start_time), None
    )
    if began is None or now <= began:
        return None
    return Pace(candidates, now - began, closing_cpu_s + sum(made[name] for name in SIMULATING), workers)


def _number(value: Any) -> float:
    return float(getattr(value, "value", None) or 0.0)


ADDED = ("candidates", "experiments", "objectives", "promoted_experiments")


@line.asset(
    deps=[
        line.incoming,
        "directions",
        "candidates",
        "experiments",
        "objectives",
        "promoted_experiments",
        "tuning",
    ],
    schema=REVIEWS,
)
def meta_review(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    final_scores: pl.DataFrame,
    final_ranking: pl.DataFrame,
) -> pl.DataFrame:
    """Every so many designs: what each objective is worth, by echo chambers, disagreement and discrimination.
    No rows in the cycles between."""
    from evolake.designs.evolution.reviewing import review_portfolio

    store = LineStore(line, context, lake)
    cycle, settings = store.cycle, store.settings
    before, population = archive(store), so_far(store, *ADDED).with_ranking(final_ranking.to_dicts())
    waiting = (
        int(before.value("designs_since_review", 0))
        + store.read("candidates").filter(pl.col("state") == "accepted").height
    )
    rows: list[dict[str, Any]] = []
    with store.roles(agents) as served:
        if waiting >= settings.of(DesignsSettings).meta_review_every:
            done = review_portfolio(
                served,
                population,
                consensus_from(final_scores, population, cycle),
                settings=settings.of(DesignsSettings),
                cycle=cycle,
                root_seed=settings.seed,
                guidance=store.guidance(),
            )
            rows = done.rows
            if done.failure:
                store.warn(
                    f"the meta reviewer gave no usable reply ({done.failure.reason}); multipliers stay"
                )
    phase = rows[0]["research_phase"] if rows else "no review"
    store.tell({"designs_since_review": waiting, "reviewed": bool(rows), "phase": phase})
    return REVIEWS.frame(rows)


@line.asset(
    deps=[line.incoming, "directions", "experiments", "objectives", "promoted_experiments"], schema=DESIGNS
)
def survivors(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    agents: AgentsResource,
    compute: ComputeResource,
    jail: JailResource,
    candidates: pl.DataFrame,
    final_ranking: pl.DataFrame,
    tuning: pl.DataFrame,
    meta_review: pl.DataFrame,
) -> pl.DataFrame:
    """Choose the champion after this cycle, and the archive that enters the next one. Seals it."""
    from evolake.designs.evolution.attempts import consensus_winner
    from evolake.designs.evolution.reviewing import analyse_designs, with_champion, with_notes
    from evolake.designs.report.material import FIGURES, Material

    store = LineStore(line, context, lake, compute)
    cycle, settings = store.cycle, store.settings
    population = so_far(store, *ADDED).with_ranking(final_ranking.to_dicts())
    fresh = [row["design_id"] for row in candidates.to_dicts() if row["state"] == "accepted"]
    if not fresh:
        store.warn(f"no candidate of cycle {cycle} passed the gates; the earlier designs stay")
    directions = {row["direction_id"]: row["direction"] for row in store.rows("directions")}
    succession = duel_for_champion(store, compute, population, final_ranking)
    ablate_champion(store, compute, jail, population, succession.champion_id)
    population = with_champion(population, succession, cycle=cycle, new_designs=len(fresh))
    first = consensus_winner(
        population, final_ranking.to_dicts(), succession.decisions, succession.champion_id
    )
    population = with_notes(population, first, store.rows("unmade"))
    with store.roles(agents) as served:
        learnt = analyse_designs(
            served,
            population,
            fresh,
            directions,
            store.text,
            settings=settings.of(DesignsSettings),
            cycle=cycle,
            root_seed=settings.seed,
        )
    closed = _closed(store, learnt.population, tuning, meta_review)
    store.extra(ANALYSES, learnt.rows, "analyses")
    publish_champion(store, closed, succession)
    sealed = store.seal(closed.frames(), GUARDS, survivors="designs")
    champion = closed.row(succession.champion_id)
    details = {
        "champion": champion["title"],
        "champion_id": champion["design_id"],
        "accepted_this_cycle": len(fresh),
    }
    details |= {
        "first_by_consensus": first.title,
        "first_by_consensus_id": first.design_id,
        "consensus_and_champion": first.reason,
    }
    pace = pace_of(
        store,
        proposed(store, candidates),
        sum(trial["cpu_s"] for trial in succession.trials),
        time.time(),
        compute.workers_at_work,
    )
    details |= pace.metadata() if pace is not None else {}
    details |= {f"against_{row['comparison']}": row["reason"] for row in succession.decisions}
    store.tell(sealed.metadata() | details | figures_of(FIGURES, Material(closed), "survivors"))
    return closed.designs_in("accepted", "champion")


def proposed(store: LineStore, candidates: pl.DataFrame) -> int:
    """Return the number of designs that were proposed in the cycle: its candidates, and what raced and did
    not become one."""
    raced = store.read("raced") if store.has("raced") else None
    return candidates.height + (
        0 if raced is None else raced.filter(pl.col("state").is_in(["raced", "blocked"])).height
    )


def _closed(
    store: LineStore, population: Population, tuning: pl.DataFrame, review: pl.DataFrame
) -> Population:
    """Return the archive as it enters the next cycle: tuned copies in, multipliers set, and kept as values
    what the next cycle must know.

    Of merges and imports only what this cycle's opening took in counts: one that came since is the next
    cycle's.
    """
    from evolake.designs.evolution.attempts import KEPT_TUNINGS, tuning_note
    from evolake.designs.evolution.importing import taken_in
    from evolake.designs.evolution.merge import entered_merges
    from evolake.designs.evolution.reviewing import reviewed

    before = archive(store)
    merged = entered_merges(store.lake, before, so_far(store), store.cycle)
    population = population.admit(store.rows("tuned_designs"), store.rows("tuning", DERIVATIONS))
    values: dict[str, Any] = {
        "tuning_tried": sorted({*before.value("tuning_tried", []), *tuning["design_id"].to_list()}),
        "merged_bundles": sorted({*before.value("merged_bundles", []), *merged}),
    }
    if note := tuning_note(population, tuning.sort("trial").to_dicts()):
        values["tunings"] = [*before.value("tunings", []), note][-KEPT_TUNINGS:]
    if imported := taken_in(before, arrived_bundles(store)):
        values["imported_bundles"] = imported
    return reviewed(population, review.to_dicts()).with_values(**values)
