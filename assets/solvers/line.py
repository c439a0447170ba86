"""The line itself, and what all its assets share: the archive that entered the cycle, the rules in force, the workshop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.cycle import Line, read_population
from assets.lake import rules_asset
from evolake import __version__
from evolake.lake import Lake, TableSchema, side_table
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables_archive import ARCHIVE
from resources.lake import LakeResource


def _no_compiler() -> str | None:
    from evolake.errors import MachineryError
    from evolake.solvers.repository.build import compiler

    try:
        compiler()
    except MachineryError as error:
        return f"{error.what}; on Debian: apt-get install g++ make"
    return None


line = Line(
    "solvers", "Whole SAT-solver repositories that evolve under proof-checked gates.", owners=("team:evolake",), kinds=("polars", "parquet"),
    population=ARCHIVE, missing=_no_compiler,
)
rules = rules_asset(line)


def archive(lake: LakeResource, cycle: str) -> Any:
    """The population that entered `cycle` (evolake.solvers.evolution.population.Population)."""
    from evolake.solvers.evolution.population import population_of

    return population_of(read_population(lake, line, cycle))


def rules_in_force(lake: LakeResource, population: Any) -> Any:
    """The rule files and the learned rules of earlier cycles, pinned (evolake.gates.Ruleset)."""
    import evolake.solvers.rules  # noqa: F401  (registers the checkers)
    from evolake.gates import load_rules
    from evolake.solvers.rules.learned import with_learned

    return with_learned(load_rules(lake.settings().seeds / "rules", line.name), population.rule_proposals.to_dicts())


def workshop(lake: LakeResource, population: Any, executor: Executor | None = None) -> Any:
    """Where this cycle's variants are unpacked, built and run (evolake.solvers.evolution.workspace.Workshop)."""
    from evolake.solvers.evolution.workspace import Workshop
    from evolake.solvers.seeds.seeding import seed_trees

    store, settings = lake.open(), lake.settings()
    work = store.root / "work" / line.name
    return Workshop(
        store.blobs, work, settings.seeds, settings.of(SolversSettings), settings.seed, {row["base"]: row for row in population.seeds()},
        seed_trees(store.blobs, work / "cache", seeds=settings.seeds / "solvers.toml"), executor,
    )


def publish_side(lake: Lake, asset: str, schema: TableSchema, rows: Iterable[Mapping[str, Any]], *, cycle: str | None, run_id: str) -> int:
    """Publish the rows that `asset` adds to a shared table; gives their number."""
    frame = schema.frame(rows)
    lake.publish(line.name, side_table(asset, schema), frame, cycle=cycle, run_id=run_id, schema=schema)
    return frame.height


def publish_extra(lake: Lake, name: str, schema: TableSchema, rows: Iterable[Mapping[str, Any]], *, context: dg.AssetExecutionContext) -> None:
    """Publish a further table of this line and cycle under its own name."""
    lake.publish(line.name, name, schema.frame(rows), cycle=context.partition_key, run_id=context.run_id, schema=schema)


def artifact_rows(rows: Sequence[Mapping[str, Any]], run_id: str, state: str | None = None) -> list[dict[str, Any]]:
    """Rows of ARTIFACTS for rows of VARIANTS."""
    return [
        {
            "artifact_id": row["variant_id"], "line": line.name, "kind": "variant", "cycle": row["cycle"], "state": state or row["state"],
            "content_sha": row["archive_sha"], "title": row["title"], "created_at": datetime.now(UTC), "run_id": run_id, "code_version": __version__,
        }
        for row in rows
    ]
