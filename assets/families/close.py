"""The closing of a cycle: what was learnt from failures, who lives on, and the population that enters the
next cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.families.checks import GUARDS
from assets.families.judge import judged_families, of_record
from assets.families.line import archive, line
from assets.predicates import rows_check
from assets.store import LineStore
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import EXPERIENCE, FAILURES, FAMILIES, IDEAS, LEARNABILITY, SURVIVAL
from evolake.lake import DERIVATIONS
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.families.model.population import Population


@line.asset(deps=[line.incoming, *of_record.assets], schema=EXPERIENCE)
def experience(
    context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame, funnel: pl.DataFrame
) -> pl.DataFrame:
    """One-sentence lessons from what was blocked, curated and capped: the next cycle's requests show them."""
    from evolake.families.evolution.requests import failure_rows, learn, lessons_of, observations
    from evolake.families.evolution.stages import gates_of

    store = LineStore(line, context, lake)
    cycle, settings, population = store.cycle, store.settings, archive(store)
    failures = observations(gates_of(of_record.verdicts(store)), store.blobs, lessons_of(store.rules()))
    with store.roles() as agents:
        items = learn(
            agents,
            population.lessons(),
            failures,
            settings=settings.of(FamiliesSettings),
            cycle=cycle,
            root_seed=settings.seed,
        )
    store.extra(FAILURES, failure_rows(failures, cycle))
    kinds = [item.kind for item in failures]
    store.tell(
        {"items": len(items), "blocked": len(failures)}
        | {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    )
    return population.with_experience(items, cycle).experience


@line.asset(deps=[line.incoming, *of_record.assets, "complexity", "drift"], schema=FAMILIES)
def survivors(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    candidates: pl.DataFrame,
    accepted: pl.DataFrame,
    instances: pl.DataFrame,
    experience: pl.DataFrame,
) -> pl.DataFrame:
    """Every accepted family, old and new: all of them may be parents in the next cycle. Seals it. With
    EVOLAKE_FAMILIES__LEARNABILITY above 0 families from which a policy learns nothing are retired, and those
    that it was not asked of late come back."""
    from evolake import __version__
    from evolake.families.dataset.datasets import MADE
    from evolake.families.evolution.records import TRIED, remembered

    store = LineStore(line, context, lake)
    cycle, settings, before = store.cycle, store.settings, archive(store)
    rows = judged_families(store, candidates, of_record.passed(store, candidates))
    counts = {row["family_id"]: 0 for row in [*before.without_instances(), *accepted.to_dicts()]}
    counts |= dict(instances.group_by("family_id").len().iter_rows())
    made = before.value(MADE, {}) | {
        cycle: {
            "ruleset": store.rules().hash,
            "seed": settings.seed,
            "backend": settings.backend,
            "version": __version__,
        }
    }
    tried = remembered(
        before.value(TRIED, []), store.rows(IDEAS.name), {row["family_id"] for row in accepted.to_dicts()}
    )
    after = before.with_cycle(rows, store.rows("candidates", DERIVATIONS)).with_instances(counts)
    after = after.with_experience(experience.sort("number")["item"].to_list(), cycle).with_values(
        **{MADE: made, TRIED: tried}
    )
    after, changed = chosen(store, after)
    live = after.rows("accepted")
    store.artifacts(
        [*(row for row in live if row["cycle"] == cycle), *(row | {"cycle": cycle} for row in changed)]
    )
    store.tell(
        store.seal(after.frames(), GUARDS, survivors="families").metadata()
        | {
            "live": len(live),
            "accepted_this_cycle": accepted.height,
            "instances_so_far": sum(row["instances"] or 0 for row in live),
            "lessons": experience.height,
            "retired": len(after.rows("retired")),
            "retired_this_cycle": sum(row["state"] == "retired" for row in changed),
        }
    )
    return FAMILIES.frame(live)


def chosen(store: LineStore, population: Population) -> tuple[Population, list[dict[str, Any]]]:
    """Return (the archive after survival; its rows that are in another state than before), by the scores that
    the cycle read when it opened."""
    from evolake.families.evolution.learnability import survival
    from evolake.families.model.population import PASSED

    scores = store.rows(LEARNABILITY.name)
    rows = survival(population.rows(*PASSED), scores, store.settings.of(FamiliesSettings), store.cycle)
    store.extra(SURVIVAL, rows)
    after = population.with_survivors({row["family_id"]: row["lives"] for row in rows})
    before = {row["family_id"]: row["before"] for row in rows}
    return after, [
        row for row in after.rows(*PASSED) if before.get(row["family_id"], row["state"]) != row["state"]
    ]


retired_were_asked = rows_check(
    survivors,
    "retired_families_were_asked",
    "A retired family was asked and scores below the floor; a family survives if and only if it is kept.",
    "lives OR score < floor",
    "lives OR groups > 0",
    "lives = survives",
    "before IN ('accepted', 'retired')",
    rows=f"""
SELECT s.*, s.family_id IN (SELECT family_id FROM {line.name}.survivors WHERE cycle = $cycle) AS survives
  FROM {line.name}.survival AS s
WHERE s.cycle = $cycle""",
    blocking=False,
)
