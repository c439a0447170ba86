"""The closing of a cycle: who lives on, and the population that enters the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assets.cycle import following
from assets.pictures import figures_of
from assets.programs.champion import islands_after
from assets.programs.checks import GUARDS
from assets.programs.line import PROJECTS, archive, line, project_named
from assets.store import LineStore
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import FAILED_PROPOSALS, PROGRAMS

if TYPE_CHECKING:
    from evolake.programs.evolution.population import Population

LONGEST_REASON = 300
"""Characters of the reason of a failed proposal that later cycles know."""


@line.asset(schema=PROGRAMS)
def survivors(
    store: LineStore,
    projects: pl.DataFrame,
    generations: pl.DataFrame,
    candidates: pl.DataFrame,
    accepted: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Collect the living programs of every project: its islands after migration, and its champion. Seals
    them."""
    from evolake.programs.evolution.champion import end_of_cycle
    from evolake.programs.evolution.memory import CONTESTS, FAILED_BEFORE
    from evolake.programs.report.material import FIGURES, material_of

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
        for known in [population.value(PROJECTS, {}).get(row["project"], {"cycle": store.cycle})]
    }
    closed = population.updated(programs=rows).add(
        derivations=store.rows("candidates", population.schemas["derivations"])
    )
    contests = {
        row["project"]: {name: value for name, value in row.items() if name != "test"}
        for row in decisions.values()
    }
    closed = closed.with_values(
        **{PROJECTS: pinned, CONTESTS: contests, FAILED_BEFORE: failed_before(store, population)}
    )
    first = champion.sort("project").to_dicts()[0]
    store.champion(first["holder_id"], first["holder_mean"])
    made = set(candidates["program_id"])
    holders = {row["holder_id"] for row in decisions.values()}
    store.artifacts(row | {"cycle": store.cycle} for row in rows if row["program_id"] in made | holders)
    sealed = store.seal(closed.frames(), GUARDS, survivors="programs")
    live = [row for row in rows if row["state"] in ("accepted", "champion")]
    store.tell(
        sealed.metadata()
        | {"live": len(live)}
        | {f"champion_{row['project']}": row["reason"] for row in decisions.values()}
        | figures_of(FIGURES, material_of(store.lake, following(store.cycle)), "survivors")
    )
    return PROGRAMS.frame(live)


def failed_before(store: LineStore, population: Population) -> dict[str, list[dict[str, Any]]]:
    """Return project -> its newest proposals of which no program came, of all cycles: later prompts name
    them."""
    from evolake.programs.evolution.memory import FAILED_BEFORE, LONGEST_MEMORY

    held: dict[str, list[dict[str, Any]]] = population.value(FAILED_BEFORE, {})
    for row in store.rows(FAILED_PROPOSALS.name):
        if row["operator"] != "model":
            continue
        kept = {name: row[name] for name in ("cycle", "reason", "idea", "parent_id") if name in row}
        held.setdefault(row["project"], []).append(kept | {"reason": kept["reason"][:LONGEST_REASON]})
    return {name: rows[-LONGEST_MEMORY:] for name, rows in held.items()}
