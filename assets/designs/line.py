"""The line itself, and what all its assets share: the archive that entered the cycle, and the gates with their rules bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import dagster as dg

from assets.cycle import Line, read_population
from assets.lake import rules_asset
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import ARCHIVE
from evolake.lake import DERIVATIONS, Lake, TableSchema, side_table
from resources.lake import LakeResource

line = Line(
    "designs", "3-SAT solver designs and the objectives that judge them.", owners=("team:evolake",), kinds=("polars", "parquet"), population=ARCHIVE,
)
rules = rules_asset(line)


def archive(lake: LakeResource, cycle: str) -> Any:
    """The population that entered `cycle` (evolake.designs.evolution.population.Population)."""
    from evolake.designs.evolution.population import population_of

    return population_of(read_population(lake, line, cycle))


def texts_of(lake: LakeResource) -> Callable[[str], str]:
    """Reads a blob as text by its sha."""
    return lambda sha: lake.open().blobs.get(sha).decode()


def gates(lake: LakeResource, pool: Any, cycle: str, run_id: str) -> Any:
    """The gates of a design with rules, sizes and seed bound: what `evolution.proposals` calls a judge. The ruleset is pinned here."""
    from evolake.designs.evolution.judging import examine
    from evolake.gates import load_rules

    settings = lake.settings()
    ruleset = load_rules(settings.seeds / "rules", line.name)

    def judge(source: str, hyper: Mapping[str, Any], known: Mapping[str, str]) -> Any:
        return examine(
            source, hyper, pool=pool, known=known, ruleset=ruleset, settings=settings.of(DesignsSettings), cycle=cycle, run_id=run_id,
            root_seed=settings.seed
        )

    return judge


def publish_side(lake: Lake, asset: str, schema: TableSchema, rows: Iterable[Mapping[str, Any]], *, cycle: str | None, run_id: str) -> int:
    """Publish the rows that `asset` adds to a shared table; gives their number."""
    frame = schema.frame(rows)
    lake.publish(line.name, side_table(asset, schema), frame, cycle=cycle, run_id=run_id, schema=schema)
    return frame.height


def publish_extra(lake: Lake, name: str, schema: TableSchema, rows: Iterable[Mapping[str, Any]], *, context: dg.AssetExecutionContext) -> None:
    """Publish a further table of this line and cycle under its own name."""
    lake.publish(line.name, name, schema.frame(rows), cycle=context.partition_key, run_id=context.run_id, schema=schema)


def so_far(lake: LakeResource, cycle: str, *upto: str) -> Any:
    """The archive plus what this cycle has added: `upto` names the assets whose rows count (candidates, experiments, ...).

    Reads this cycle's own parts and nothing else, so any asset of an old cycle can be materialized again.
    """
    store, population = lake.open(), archive(lake, cycle)
    for asset in ("merged_designs", *(("candidates",) if "candidates" in upto else ())):
        side = "directions" if asset == "merged_designs" else asset
        derived = store.read(line.name, side_table(side, DERIVATIONS), cycle).to_dicts()
        population = population.admit(store.read(line.name, asset, cycle).to_dicts(), derived)
    for asset in ("experiments", "promoted_experiments"):
        if asset in upto:
            population = population.add(experiments=store.read(line.name, asset, cycle).to_dicts())
    if "objectives" in upto:
        population = population.add(objectives=store.read(line.name, "objectives", cycle).to_dicts())
    return population
