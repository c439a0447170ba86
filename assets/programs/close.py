"""Close a cycle of programs: who is champion of each project (the best of the search against the holder of
the title, under seeds the search never had), who lives on, and the population that enters the next one; and
the blocking checks through which everything must pass on its way to survivors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.cycle import following
from assets.predicates import once, passed_every_gate, raised_check, rows_check, weights_sum_to_one
from assets.programs.evolve import accepted, candidates, entries_of, generations, projects
from assets.programs.line import archive, line, project_named, work_notes
from assets.proposals import proposal_checks
from assets.shown import figures_of
from assets.store import LineStore
from evolake.programs.gate_specs import GATES
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import (
    BLAME,
    DECISIONS,
    ENTRY_AUDITS,
    FAILED_PROPOSALS,
    MEASURED,
    PINNED,
    PROGRAMS,
)
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.programs.evolution.population import Islands, Population
    from evolake.programs.model.project import Project


NOTES = "contest_notes"
"""Table of what a duel has measured so far, seed by seed: a run that is killed in one continues with it."""


def islands_after(
    store: LineStore,
    population: Population,
    project: Project,
    generations: pl.DataFrame,
    accepted: pl.DataFrame,
) -> Islands:
    """Return the living programs of a project after the cycle's generations, less what a gate has blocked;
    its champion is marked."""
    from evolake.programs.evolution.population import Islands

    own = generations.filter(pl.col("project") == project.name)
    blocked = set(accepted.filter(~pl.col("passed"))["program_id"])
    entries = entries_of(store, own)
    rows = entries[-1].islands if entries else population.rows(project.name, "accepted", "champion")
    champion = population.champion(project.name)
    held = {row["program_id"]: row for row in rows if row["program_id"] not in blocked}
    held[champion["program_id"]] = held.get(champion["program_id"], champion) | {"state": "champion"}
    return Islands(project, store.settings.of(ProgramsSettings), held)


@line.asset(deps=[line.incoming], schema=DECISIONS, kinds={"bubblewrap"})
def champion(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    projects: pl.DataFrame,
    generations: pl.DataFrame,
    accepted: pl.DataFrame,
) -> pl.DataFrame:
    """One decision per project. The title changes only where the challenger is better by more than the noise
    that is measured with it."""
    from evolake.programs.evolution.program_contest import decide_champion

    store = LineStore(line, context, lake)
    population = archive(store)
    contest = store.contest([*(row["program_id"] for row in population.rows()), *accepted["program_id"]])
    rows: list[dict[str, Any]] = []
    measured: list[dict[str, Any]] = []
    for project in projects.sort("project").to_dicts():
        built = project_named(store, project["project"], project["blob_sha"], project["mode"])
        islands = islands_after(store, population, built, generations, accepted)
        succession = decide_champion(
            built,
            islands,
            population,
            store.blobs,
            own=store.settings.of(ProgramsSettings),
            cycle_seeds=contest,
            mode=store.settings.jail,
            notes=work_notes(store, NOTES, built.name),
        )
        rows.append(succession.decision)
        measured += succession.measured
        store.log(f"{built.name}: {succession.decision['reason']}")
    store.extra(MEASURED, measured, "heldout")
    store.reveal(contest)
    details: dict[str, Any] = {row["project"]: row["reason"] for row in rows}
    store.tell({"changed": sum(row["wins"] for row in rows)} | details)
    return DECISIONS.frame(rows)


projects_are_whole = rows_check(
    projects, "projects_are_whole", "Each project once, with a program that lives."
)
scores_cannot_be_forged = rows_check(
    projects,
    "scores_cannot_be_forged",
    "No attack forged the score of a project when it entered. Warns, and stops nothing.",
    "verdict <> 'not sound'",
    rows=f"""
SELECT project, verdict, findings FROM {line.name}.{ENTRY_AUDITS.name} WHERE cycle = $cycle""",
    blocking=False,
)
generations_follow = rows_check(
    generations,
    "generations_follow_each_other",
    "Of every project the generations 1, 2, ... without a gap, each once.",
    once("project", "generation"),
    "generation = place",
    rows=f"""
SELECT project, generation, row_number() OVER (PARTITION BY project ORDER BY generation) AS place
FROM {line.name}.generations WHERE cycle = $cycle""",
)
candidates_have_parents = weights_sum_to_one(
    candidates,
    "parent_weights_sum_to_one",
    "Every candidate has parents, whose shares in it sum to 1.",
    "program_id",
    orphans_allowed=False,
)
candidates_are_scored = rows_check(
    candidates,
    "candidates_are_scored_or_blocked",
    "No program twice; one that is not blocked has a finite score, one that is has a reason.",
    once("program_id"),
    "(state = 'blocked') = (score IS NULL)",
    "score IS NULL OR isfinite(score)",
    "(state = 'blocked') = (reason IS NOT NULL)",
)
accepted_passed_every_gate = passed_every_gate(
    accepted,
    "accepted_passed_every_gate",
    "Every program that passed has a pass from each gate of this cycle and no objection.",
    "program_id",
    len(GATES),
    where="passed",
)
wins_are_beyond_noise = rows_check(
    champion,
    "wins_are_beyond_the_noise",
    "One decision per project; the champion changes only if the gain's interval is above 0 and the gain is "
    "above the noise, or if the champion fails.",
)
judging_did_not_raise = raised_check(accepted, line.name, line.cycles, judged=["accepted"])
some_proposal_was_answered = proposal_checks(line, generations)
GUARDS = (
    projects_are_whole,
    generations_follow,
    candidates_have_parents,
    candidates_are_scored,
    accepted_passed_every_gate,
    wins_are_beyond_noise,
)


LONGEST_REASON = 300
"""Characters of the reason of a failed proposal that later cycles know."""


@line.asset(deps=[line.incoming], schema=PROGRAMS)
def survivors(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    projects: pl.DataFrame,
    generations: pl.DataFrame,
    candidates: pl.DataFrame,
    accepted: pl.DataFrame,
    champion: pl.DataFrame,
    baseline: pl.DataFrame,
    simplified: pl.DataFrame,
) -> pl.DataFrame:
    """Collect the living programs of every project: its islands after migration, and its champion. Seals
    them."""
    from evolake.programs.evolution.program_contest import end_of_cycle
    from evolake.programs.evolution.search_memory import CONTESTS, FAILED_BEFORE
    from evolake.programs.report.material import FIGURES, material_of

    store = LineStore(line, context, lake)
    own, population = store.settings.of(ProgramsSettings), archive(store)
    blocked = {
        row["program_id"]: f"{row['gate']}: {row['reason']}"
        for row in accepted.filter(~pl.col("passed")).to_dicts()
    }
    decisions = {row["project"]: row for row in champion.to_dicts()}
    living: dict[str, dict[str, Any]] = {}
    for project in projects.to_dicts():
        built = project_named(store, project["project"], project["blob_sha"], project["mode"])
        islands = islands_after(store, population, built, generations, accepted)
        living |= end_of_cycle(
            islands, decisions[built.name]["holder_id"], most=built.config.population or own.most_programs
        )
    rows: list[dict[str, Any]] = []
    for row in (*population.rows(), *candidates.to_dicts()):
        name = row["program_id"]
        if name in living:
            rows.append({column: living[name][column] for column in PROGRAMS.columns})
        elif name in blocked:
            rows.append(row | {"state": "blocked", "islands": [], "reason": row["reason"] or blocked[name]})
        else:
            rows.append(
                row
                | {
                    "state": row["state"] if row["state"] == "blocked" else "retired",
                    "islands": [],
                    "front": False,
                }
            )
    pinned = {
        row["project"]: {
            "cycle": known["cycle"],
            "sha": row["project_sha"],
            "blob": row["blob_sha"],
            "initial": row["initial_id"],
        }
        for row in projects.to_dicts()
        for known in [population.value(PINNED, {}).get(row["project"], {"cycle": store.cycle})]
    }
    closed = population.updated(programs=rows).add(
        derivations=store.rows("candidates", population.schemas["derivations"])
    )
    contests = {
        row["project"]: {name: value for name, value in row.items() if name != "test"}
        for row in decisions.values()
    }
    closed = closed.with_values(
        **{PINNED: pinned, CONTESTS: contests, FAILED_BEFORE: failed_before(store, population)}
    )
    first = champion.sort("project").to_dicts()[0]
    store.champion(first["holder_id"], first["holder_mean"])
    made = set(candidates["program_id"])
    holders = {row["holder_id"] for row in decisions.values()}
    store.artifacts(row | {"cycle": store.cycle} for row in rows if row["program_id"] in made | holders)
    store.extra(BLAME, blamed(store, closed, projects))
    sealed = store.seal(closed.frames(), GUARDS, survivors="programs")
    live = [row for row in rows if row["state"] in ("accepted", "champion")]
    store.tell(
        sealed.metadata()
        | {"live": len(live)}
        | {f"champion_{row['project']}": row["reason"] for row in decisions.values()}
        | {
            f"baseline_{row['project']}": row["heldout_mean"]
            for row in baseline.drop_nulls("heldout_mean").to_dicts()
        }
        | {f"simplified_{row['project']}": row["reason"] for row in simplified.to_dicts()}
        | figures_of(FIGURES, material_of(store.lake, following(store.cycle)), "survivors")
    )
    return PROGRAMS.frame(live)


def blamed(store: LineStore, closed: Population, projects: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield who brought each line of each champion. closed: the population that leaves the cycle."""
    from evolake.programs.evolution.population import texts_of
    from evolake.programs.report.tracing import blame_rows

    for project in projects.sort("project").to_dicts():
        known = {row["program_id"]: row for row in closed.rows(project["project"])}
        for row in blame_rows(
            closed.champion(project["project"]),
            known,
            lambda item: texts_of(store.blobs, item["files_sha"]),
            higher_is_better=project["higher_is_better"],
        ):
            yield row | {"cycle": store.cycle}


def failed_before(store: LineStore, population: Population) -> dict[str, list[dict[str, Any]]]:
    """Return project -> its newest proposals of which no program came, of all cycles: later prompts name
    them."""
    from evolake.programs.evolution.search_memory import FAILED_BEFORE, LONGEST_MEMORY

    held: dict[str, list[dict[str, Any]]] = population.value(FAILED_BEFORE, {})
    for row in store.rows(FAILED_PROPOSALS.name):
        if row["operator"] != "model":
            continue
        kept = {name: row[name] for name in ("cycle", "reason", "idea", "parent_id") if name in row}
        held.setdefault(row["project"], []).append(kept | {"reason": kept["reason"][:LONGEST_REASON]})
    return {name: rows[-LONGEST_MEMORY:] for name, rows in held.items()}
