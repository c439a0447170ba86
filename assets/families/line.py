"""The line itself, and what all its assets share: the archive that entered the cycle, the rules in force, the jail, the agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.cycle import Line, read_population
from assets.lake import rules_asset
from evolake import __version__
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import ARCHIVE
from evolake.lake import Lake, TableSchema, side_table
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.agents import Agents
    from evolake.jail import Pool

line = Line(
    "families", "Verifiable task families: generator, question template and validators that evolve behind gates.", owners=("team:evolake",),
    kinds=("polars", "parquet"), population=ARCHIVE,
)
rules = rules_asset(line)


def archive(lake: LakeResource, cycle: str) -> Any:
    """The population that entered `cycle` (evolake.families.model.population.Population)."""
    from evolake.families.model.population import population_of

    return population_of(read_population(lake, line, cycle))


def rules_in_force(lake: LakeResource) -> Any:
    """The rule files, pinned (evolake.gates.Ruleset)."""
    from evolake.gates import load_rules

    return load_rules(lake.settings().seeds / "rules", line.name)


def open_jail(lake: LakeResource) -> Pool:
    """A pool of workers that have imported what families use. Close it: `with open_jail(lake) as pool`.

    Raises:
        JailUnavailable: no working sandbox.
    """
    from evolake.families.sandbox.running import PRELOAD
    from evolake.jail import open_pool

    settings = lake.settings()
    return open_pool(workers=settings.workers, preload=PRELOAD, mode=settings.jail)


def open_roles(lake: LakeResource, cycle: str, run_id: str) -> Agents:
    """The agents of one cycle of this line. Raises InputError where the model backend lacks something."""
    from evolake.agents import open_agents

    return open_agents(lake.settings(), lake.open().root, cycle, run_id, line=line.name)


def judge(
    lake: LakeResource, pool: Any, agents: Any, ruleset: Any, cycle: str, run_id: str, sizes: FamiliesSettings | None = None
) -> Callable[..., Any]:
    """All gates with everything bound but the family and the fingerprints of those that it must differ from. sizes: others than the settings'."""
    from evolake.families.gates.judging import examine

    settings = lake.settings()

    def one(family: Any, known: Sequence[Any]) -> Any:
        return examine(
            family, pool=pool, agents=agents, ruleset=ruleset, settings=sizes or settings.of(FamiliesSettings), cycle=cycle, run_id=run_id,
            known=known, root_seed=settings.seed,
        )

    return one


def publish_side(lake: Lake, asset: str, schema: TableSchema, rows: Iterable[Mapping[str, Any]], *, cycle: str | None, run_id: str) -> int:
    """Publish the rows that `asset` adds to a shared table; gives their number."""
    frame = schema.frame(rows)
    lake.publish(line.name, side_table(asset, schema), frame, cycle=cycle, run_id=run_id, schema=schema)
    return frame.height


def publish_extra(lake: Lake, schema: TableSchema, rows: Iterable[Mapping[str, Any]], *, context: dg.AssetExecutionContext) -> None:
    """Publish a further table of this line and cycle under its schema's name."""
    lake.publish(line.name, schema.name, schema.frame(rows), cycle=context.partition_key, run_id=context.run_id, schema=schema)


def artifact_rows(rows: Iterable[Mapping[str, Any]], run_id: str, state: str | None = None) -> list[dict[str, Any]]:
    """Rows of ARTIFACTS for rows of FAMILIES."""
    return [
        {
            "artifact_id": row["family_id"], "line": line.name, "kind": "family", "cycle": row["cycle"], "state": state or row["state"],
            "content_sha": row["record_sha"], "title": row["title"], "created_at": datetime.now(UTC), "run_id": run_id, "code_version": __version__,
        }
        for row in rows
    ]
