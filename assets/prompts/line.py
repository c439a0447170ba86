"""The line itself, what all its assets share (the archive that entered the cycle, the policy as it was then,
the problems of the cycle), and what it starts from: the root prompts of data_lake/seeds/prompts/roots.json
and the base model as it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import with_added_seeds, with_seeds
from assets.cycle import FIRST_CYCLE, Line, seal_seeds
from assets.rules import rules_asset
from assets.store import LineStore
from evolake import settings as settings_module
from evolake.lake import RULES
from evolake.lazy import Lazy
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import ARCHIVE, PROMPTS
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.prompts.evolution.population import Population
    from evolake.prompts.model.protocol import Problem


CHECKPOINT, CHAMPION_SINCE = "checkpoint", "champion_since"
"""State that goes from cycle to cycle: blob of the policy (null: the base model), since when the champion is
one."""


def _lacks() -> str | None:
    from evolake.prompts.policies.registry import missing

    return missing(settings_module.load())


line = Line(
    "prompts",
    "System prompts that evolve while the policy that reads them learns.",
    owners=("team:evolake",),
    population=ARCHIVE,
    missing=_lacks,
    artifact=lambda row: {  # a prompt is its own content
        "artifact_id": row["prompt_id"],
        "kind": "system prompt",
        "content_sha": row["prompt_id"],
        "title": f"{row['operator']} {row['number']}",
    },
    proposers={
        "iterations": (
            Lazy("evolake.prompts.roles.editing:EDITOR"),
            Lazy("evolake.prompts.roles.editing:RECOMBINER"),
        )
    },
)
rules = rules_asset(line)


def archive(store: LineStore) -> Population:
    """Return the population that entered the cycle, with its added seeds."""
    from evolake.prompts.evolution.population import population_of

    return with_added_seeds(store, population_of(store.population()), "prompts")


@contextmanager
def policy_at(store: LineStore, checkpoint: str | None) -> Generator[Any]:
    """Yield the policy (evolake.prompts.model.protocol.Policy) as a checkpoint has it; None: before any
    update."""
    from evolake.prompts.policies.registry import open_policy

    policy: Any = open_policy(store.settings, store.lake.root, store.cycle, store.run_id)
    with policy if hasattr(policy, "__exit__") else nullcontext(policy):
        if checkpoint is not None and policy.learns:
            policy.load(store.blobs.get(checkpoint))
        yield policy


def problems_of(rows: pl.DataFrame, split: str) -> list[Problem]:
    """Return rows of PROBLEMS as problems, in their order."""
    from evolake.prompts.model.protocol import Problem

    names = [name for name in Problem.__dataclass_fields__ if name in rows.columns]
    return [
        Problem(**{name: row[name] for name in names}) for row in rows.to_dicts() if row["split"] == split
    ]


def shown(share: float | None) -> str:
    """Return a share as metadata shows it."""
    return "none" if share is None else f"{100 * share:.1f}%"


def called(replies: pl.DataFrame) -> dict[str, str]:
    """Return metadata on calls of tools; {} for replies of a policy without tools."""
    calls = [call for text in replies["calls"].drop_nulls() for call in json.loads(text)]
    by_status = Counter(f"{call['tool'] or 'no tool'} {call['status']}" for call in calls)
    sentence = ", ".join(f"{count} {kind}" for kind, count in sorted(by_status.items()))
    return {"calls_of_tools": sentence or "none"} if replies["calls"].count() else {}


def unverified(replies: pl.DataFrame) -> dict[str, str]:
    """Return metadata on replies that their dataset's verifier gave no score for; {} if there are none."""
    lost = replies["unverified"].drop_nulls().to_list()
    kinds = ", ".join(f"{lost.count(kind)} {kind}" for kind in sorted(set(lost)))
    return {"unverified": f"{len(lost)} replies, worth 0: {kinds}"} if lost else {}


@line.seed_asset(deps=[rules], gates=(), schema=PROMPTS)
def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Root prompts with fresh ratings, the first of them as champion; seals the population that enters cycle
    0001."""
    from evolake.lake.added_seeds import seeds_of
    from evolake.prompts.evolution.iteration import window_of
    from evolake.prompts.evolution.population import SEEDS, found_population
    from evolake.prompts.model.prompt import from_json

    store = LineStore(line, context, lake)
    items = seeds_of(SEEDS, store.settings)
    roots = {item.name: from_json(item.pack().decode()) for item in items}
    population = found_population(roots, store.cycle)
    first = population.rows()[0]["prompt_id"]
    population = population.with_champion(first, window_of(store.settings.of(PromptsSettings)))
    population = population.with_values(**{CHECKPOINT: None, CHAMPION_SINCE: FIRST_CYCLE})
    population = with_seeds(store, population, items, "prompts", population.rows())
    store.may_seal(population.frames())
    store.artifacts(population.rows())
    store.side(RULES, store.rules().rows())
    store.champion(first, None)
    sealed = seal_seeds(store.context, store.resource, line, population.frames())
    store.tell(sealed.metadata() | {"roots": ", ".join(roots), "champion": first, "first_cycle": FIRST_CYCLE})
    return population.prompts
