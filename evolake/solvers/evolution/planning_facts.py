"""What a planner that reads is shown next to standings and history: knowledge, diffs of what was tried,
results by family, files and functions; and the conditions under which a variant is run, judged and promoted,
in words for all roles that propose: limits, cost, contest and noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evolake.agents.attempts import attempts_table
from evolake.gates import Ruleset
from evolake.lake.blobs import BlobStore
from evolake.solvers.evolution.excerpt import outline, places_of, visible_files, whole_functions
from evolake.solvers.evolution.planning import ParentPool, PlannerFacts, par2_visible, refuse_holdout
from evolake.solvers.evolution.population import (
    CONTESTS,
    Population,
    contest_texts,
    measurement_noise,
    tried_ideas,
)
from evolake.solvers.measurement.metrics import checked_share, cost, proved
from evolake.solvers.repository.unified_diff import whole_hunks
from evolake.solvers.roles.models import SHORT_ID, FamilyResult, SourceTree, Tried, with_short_ids
from evolake.solvers.roles.shown import prompt_knowledge
from evolake.solvers.settings import SolversSettings


def measuring_conditions(settings: SolversSettings, contests: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return one line for each condition. contests: records of earlier ones, whose noise is stated."""
    formulas = f"{settings.train_instances} formulas" if settings.train_instances else "all formulas"
    fresh = max(settings.train_instances, settings.duel_instances) if settings.train_instances else 0
    noise = measurement_noise(contests)
    return [
        f"Benchmark: {formulas} of the training suite. A run has one core, {settings.timeout_s:g} s of "
        f"processor time, {settings.memory_mb} MiB of memory and {settings.proof_mb} MiB for its proof, "
        f"whose check has {settings.proof_timeout_s:g} s.",
        "Cost of a run (PAR-2): its processor time if the answer is right and certified, twice the limit "
        "if not. Objectives over the benchmark make the consensus rank; rank 1 alone promotes nothing.",
        f"Contest: up to {settings.challengers} best-ranked variants that have not lost to this champion "
        f"run next to it on {fresh or 'as many'} fresh formulas of the same families, {settings.pairs} "
        "passes each. Promoted is who solves no fewer and whose whole "
        "95% interval of the cost ratio (champion over challenger, geometric mean over formulas) lies "
        "above 1, also if its worst formula counts twice, and its mean cost is lower.",
        *(
            [f"Noise: repeated passes of one solver differ by a factor of up to {noise:.3g} in PAR-2."]
            if noise and noise > 1
            else []
        ),
    ]


MOST_TRIED, LONGEST_DIFF = 4, 1500
MOST_VARIANTS = 8
MOST_TREES = 2
LONGEST_CODE = 9_000
MOST_CONTESTS = 6
DECIDES = (
    "pickBranchLit",
    "search",
    "analyze",
    "reduceDB",
    "propagate",
    "cancelUntil",
    "luby",
    "restarting",
    "reducing",
    "rephasing",
    "decide",
    "reduce",
    "restart",
    "rephase",
    "bump_variable_score",
    "mark_useless_redundant_clauses_as_garbage",
)
"""Functions that decide a search, by their last names, in the order in which they are shown."""


def planner_facts(
    population: Population,
    pool: ParentPool,
    ruleset: Ruleset,
    blobs: BlobStore,
    folder_of: Callable[[str], Path],
    *,
    settings: SolversSettings,
    cycle: str,
    guidance: Sequence[str] = (),
) -> PlannerFacts:
    """Return the facts of a cycle. folder_of: sha of an archive -> its folder. guidance: what people asked
    for: older attempts like it are shown.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    attempts = tried(population, blobs, folder_of)
    best = sorted(
        (line for line in pool.standings if line.base in pool.bases),
        key=lambda line: (line.rank is None, line.rank or 0, line.variant_id),
    )
    short = {item.variant_id[:SHORT_ID]: item for item in pool.variants}
    first = {line.base: line for line in reversed(best)}
    leading = [line for line in best if first[line.base] is line][:MOST_TREES]
    files = {
        line.variant_id: visible_files(short[line.variant_id].folder, pool.bases[line.base].adapter)
        for line in leading
    }
    code = []
    if leading:
        touched = [
            place for item in reversed(attempts) if item.base == leading[0].base for place in item.places
        ]
        code = whole_functions(
            files[leading[0].variant_id], wanted=[*_names(touched), *DECIDES], most=LONGEST_CODE
        )
    leaders = [line.variant_id for line in best[:MOST_VARIANTS]]
    return PlannerFacts(
        prompt_knowledge(ruleset),
        attempts,
        family_results(population.runs, leaders, settings=settings, cycle=cycle),
        [
            SourceTree(variant_id=line.variant_id, base=line.base, files=outline(files[line.variant_id]))
            for line in leading
        ],
        code,
        (population.champion_id or "")[:SHORT_ID],
        shown_contests(population),
        attempts_table(tried_ideas(population), about=" ".join(guidance)),
        measuring_conditions(settings, population.value(CONTESTS, [])),
    )


def shown_contests(population: Population, most: int = MOST_CONTESTS) -> list[str]:
    """Return the newest contests in words, the oldest first, and why the best-ranked variant is not
    champion."""
    records = population.value(CONTESTS, [])
    return [
        *contest_texts(records[-most:]),
        *rank_notes(population.ranking.to_dicts(), population.champion_id, records),
    ]


def rank_notes(
    ranking: Sequence[Mapping[str, Any]], champion_id: str | None, records: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return one line that says why rank 1 is not the champion; none if it is."""
    first = next((row["variant_id"] for row in ranking if row["rank"] == 1), None)
    if first is None or champion_id is None or first == champion_id:
        return []
    lost = next(
        (
            record
            for record in reversed(records)
            if record["challenger_id"] == first and record["champion_id"] == champion_id
        ),
        None,
    )
    why = (
        f"it lost or did not win its contest of cycle {lost['cycle']}"
        if lost
        else "it has had no contest with this champion yet"
    )
    return [
        f"{first[:SHORT_ID]} is rank 1 of the benchmark and not champion: {why}. The champion is "
        f"{champion_id[:SHORT_ID]}."
    ]


def tried(population: Population, blobs: BlobStore, folder_of: Callable[[str], Path]) -> list[Tried]:
    """Return the newest attempts with their diffs, oldest first."""
    rows = {row["variant_id"]: row for row in population.rows()}
    attempts = [row for row in population.history.to_dicts() if row["variant_id"] in rows][-MOST_TRIED:]
    return [_tried(row, rows[row["variant_id"]], blobs, folder_of) for row in attempts]


def _tried(
    attempt: Mapping[str, Any], row: Mapping[str, Any], blobs: BlobStore, folder_of: Callable[[str], Path]
) -> Tried:
    diff = blobs.get(row["diff_sha"]).decode("utf-8", "replace") if row["diff_sha"] else ""
    return Tried(
        variant_id=row["variant_id"][:SHORT_ID],
        parent_id=(row["parents"] or [""])[0][:SHORT_ID],
        base=row["base"],
        title=row["title"],
        hypothesis=row["hypothesis"][:600],
        outcome=attempt["outcome"],
        gate=attempt["gate"] or "",
        reason=with_short_ids(row["reason"] or "")[:600],
        gain=attempt["gain"],
        solved_gain=attempt["solved_gain"],
        places=places_of(diff, folder_of(row["archive_sha"])),
        diff=whole_hunks(diff, LONGEST_DIFF),
    )


def family_results(
    runs: pl.DataFrame, lines: Sequence[str], *, settings: SolversSettings, cycle: str
) -> list[FamilyResult]:
    """Return one row per family of instances that these variants ran, in order of its name. lines: short ids
    of the variants.

    Raises InputError where a run is of `holdout_suite`.
    """
    refuse_holdout([{"suite": suite} for suite in runs["suite"].unique()], settings)
    ids = list(lines)
    marked = (
        proved(runs)
        .with_columns(variant_id=pl.col("variant_id").str.slice(0, SHORT_ID), cost=cost())
        .filter(pl.col("variant_id").is_in(ids))
    )
    each = marked.group_by("family", "variant_id", "instance").agg(
        pl.col("solved").mean(), pl.col("cost").mean()
    )
    result = each.group_by("family", "variant_id").agg(
        pl.col("solved").sum(), pl.col("cost").mean(), pl.len()
    )
    took = marked.group_by("family", "variant_id").agg(
        pl.col("conflicts").mean(), pl.col("cpu_s").filter("solved").mean()
    )
    result = result.join(took, on=["family", "variant_id"])
    result = result.join(
        marked.group_by("family", "variant_id").agg(checked_share().alias("checked")),
        on=["family", "variant_id"],
    )
    shown = par2_visible(settings, cycle)
    results = []
    for (family,), part in sorted(result.group_by("family"), key=lambda item: str(item[0][0])):
        rows = {row["variant_id"]: row for row in part.to_dicts()}
        there = [name for name in ids if name in rows]
        results.append(
            FamilyResult(
                family=str(family),
                instances=max(rows[name]["len"] for name in there),
                solved={name: round(rows[name]["solved"], 3) for name in there},
                seconds={name: round(rows[name]["cost"], 3) for name in there} if shown else {},
                checked={
                    name: round(rows[name]["checked"], 3)
                    for name in there
                    if rows[name]["checked"] is not None
                },
                conflicts={
                    name: round(rows[name]["conflicts"], 1)
                    for name in there
                    if rows[name]["conflicts"] is not None
                },
                cpu_s={
                    name: round(rows[name]["cpu_s"], 3) for name in there if rows[name]["cpu_s"] is not None
                },
            )
        )
    return results


def _names(places: Sequence[str]) -> list[str]:
    """Functions of places like `src/core/Solver.cc: search, analyze`, each once."""
    return list(
        dict.fromkeys(name for place in places for name in place.partition(": ")[2].split(", ") if name)
    )
