"""What the line starts from: the projects that there are, each with its initial program through the same
gates as everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assets.added_seeds import with_seeds
from assets.programs.line import PROJECTS, line, rules
from assets.store import LineStore
from evolake.errors import InputError
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import PROGRAMS

if TYPE_CHECKING:
    from evolake.gates import Verdict
    from evolake.lake.added_seeds import SeedItem


REPAIR = (
    "`evolake programs check DIR` shows what is wrong with a project. Repair it, or name others in "
    "EVOLAKE_PROGRAMS__PROJECTS, and run again."
)


@line.seed_asset(deps=[rules], gates=(), schema=PROGRAMS, kinds={"bubblewrap"})
def seeds(store: LineStore) -> pl.DataFrame:
    """Evaluate the initial program of every project; seal the population that enters cycle 0001. One that is
    blocked stays as a row and does not enter."""
    from evolake.lake.added_seeds import seeds_of
    from evolake.programs.evolution.added_seeds import SEEDS, admit
    from evolake.programs.evolution.population import Population
    from evolake.programs.model.project import project_of, unpack_files

    settings, ruleset = store.settings, store.rules()
    rows: list[dict[str, Any]] = []
    used: list[SeedItem] = []
    verdicts: list[Verdict] = []
    pinned: dict[str, dict[str, Any]] = {}
    for item in seeds_of(SEEDS, settings):
        try:
            data = item.pack()
            project = project_of(item.name, unpack_files(data))
            row, results = admit(
                project,
                settings.of(ProgramsSettings),
                ruleset,
                store.blobs,
                cycle=store.cycle,
                run_id=store.run_id,
                root_seed=settings.seed,
                mode=settings.jail,
            )
        except InputError as error:
            store.refused(item.name, error.what)
            continue
        rows.append(row)
        used.append(item)
        verdicts += results.verdicts
        if results.accepted:
            pinned[item.name] = {
                "cycle": store.cycle,
                "sha": item.sha,
                "blob": store.blobs.put(data),
                "initial": row["program_id"],
            }
        store.log(f"{item.name}: {row['state']} {row['reason'] or ''} score {row['score']}")
    population = with_seeds(store, Population.empty().add(programs=rows), used, "programs", rows).with_values(
        **{PROJECTS: pinned}
    )
    store.may_seal(population.frames())
    store.artifacts(rows)
    store.verdicts(verdicts)
    summary = store.seal_seeds(rows, population.frames(), lacking="no project can be used", do=REPAIR)
    first = min((row for row in rows if row["state"] == "accepted"), key=lambda row: row["project"])
    store.champion(first["program_id"], first["score"])
    store.tell(
        {f"score_{row['project']}": row["score"] for row in rows if row["score"] is not None} | summary
    )
    return PROGRAMS.frame(rows)
