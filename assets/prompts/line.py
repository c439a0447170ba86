"""The line itself, and what all its assets share: the archive that entered the cycle, the policy as it was then, the problems of the cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.cycle import Line, read_population
from assets.lake import rules_asset
from evolake import __version__
from evolake import settings as settings_module
from evolake.lake import Lake, TableSchema, side_table
from evolake.prompts.tables import ARCHIVE
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.agents import Agents

CHECKPOINT, FAMILIES_CYCLES, CHAMPION_SINCE = "checkpoint", "families_cycles", "champion_since"
"""State that goes from cycle to cycle: blob of the policy (null: the base model), cycles of families in use, since when the champion reigns."""


def _lacks() -> str | None:
    from evolake.prompts.policies.registry import missing

    return missing(settings_module.load())


line = Line(
    "prompts", "System prompts that evolve while the policy that reads them learns.", owners=("team:evolake",), kinds=("polars", "parquet"),
    population=ARCHIVE, missing=_lacks,
)
rules = rules_asset(line)


def archive(lake: LakeResource, cycle: str) -> Any:
    """The population that entered `cycle` (evolake.prompts.evolution.population.Population)."""
    from evolake.prompts.evolution.population import population_of

    return population_of(read_population(lake, line, cycle))


def rules_in_force(lake: LakeResource) -> Any:
    """The rule files, pinned (evolake.gates.Ruleset)."""
    from evolake.gates import load_rules

    return load_rules(lake.settings().seeds / "rules", line.name)


def open_roles(lake: LakeResource, cycle: str, run_id: str) -> Agents:
    """The agents of one cycle of this line. Raises InputError where the model backend lacks something."""
    from evolake.agents import open_agents

    return open_agents(lake.settings(), lake.open().root, cycle, run_id, line=line.name)


@contextmanager
def policy_at(lake: LakeResource, cycle: str, run_id: str, checkpoint: str | None) -> Iterator[Any]:
    """The policy (evolake.prompts.model.protocol.Policy) as a checkpoint has it; None: before any update."""
    from evolake.prompts.policies.registry import open_policy

    store = lake.open()
    policy: Any = open_policy(lake.settings(), store.root, cycle, run_id)
    with policy if hasattr(policy, "__exit__") else nullcontext(policy):
        if checkpoint is not None and policy.learns:
            policy.load(store.blobs.get(checkpoint))
        yield policy


def problems_of(rows: pl.DataFrame, split: str) -> list[Any]:
    """Rows of PROBLEMS as problems (evolake.prompts.model.protocol.Problem), in their order."""
    from evolake.prompts.model.protocol import Problem

    names = [name for name in Problem.__dataclass_fields__ if name in rows.columns]
    return [Problem(**{name: row[name] for name in names}) for row in rows.to_dicts() if row["split"] == split]


def publish_side(lake: Lake, asset: str, schema: TableSchema, rows: Iterable[Mapping[str, Any]], *, cycle: str | None, run_id: str) -> int:
    """Publish the rows that `asset` adds to a shared table; gives their number."""
    frame = schema.frame(rows)
    lake.publish(line.name, side_table(asset, schema), frame, cycle=cycle, run_id=run_id, schema=schema)
    return frame.height


def artifact_rows(rows: Iterable[Mapping[str, Any]], run_id: str, state: str | None = None) -> list[dict[str, Any]]:
    """Rows of ARTIFACTS for rows of PROMPTS. A prompt is its own content."""
    return [
        {
            "artifact_id": row["prompt_id"], "line": line.name, "kind": "system prompt", "cycle": row["cycle"], "state": state or row["state"],
            "content_sha": row["prompt_id"], "title": f"{row['operator']} {row['number']}", "created_at": datetime.now(UTC), "run_id": run_id,
            "code_version": __version__,
        }
        for row in rows
    ]


def shown(share: float | None) -> str:
    """A share as metadata shows it."""
    return "none" if share is None else f"{100 * share:.1f}%"


def partition_of(context: dg.AssetExecutionContext) -> tuple[str, str]:
    """(cycle, run id)."""
    return context.partition_key, context.run_id
