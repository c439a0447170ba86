"""The closing of a cycle: what was learnt from failures, who lives on, and the population that enters the next cycle."""

from __future__ import annotations

import polars as pl

from assets.families.checks import GUARDS
from assets.families.judge import of_record, settled
from assets.families.line import archive, line
from assets.store import LineStore
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import EXPERIENCE, FAILURES, FAMILIES
from evolake.lake import DERIVATIONS


@line.asset(deps=of_record.assets, schema=EXPERIENCE)
def experience(store: LineStore, candidates: pl.DataFrame, funnel: pl.DataFrame) -> pl.DataFrame:
    """One-sentence lessons from what was blocked, curated and capped: the next cycle's requests show them."""
    from evolake.families.evolution.failure_rows import failure_rows, observations
    from evolake.families.evolution.proposing import learn
    from evolake.families.evolution.stages import gates_of

    cycle, settings, population = store.cycle, store.settings, archive(store)
    failures = observations(gates_of(of_record.verdicts(store)), store.blobs)
    with store.roles() as agents:
        items = learn(agents, population.lessons(), failures, settings=settings.of(FamiliesSettings), cycle=cycle, root_seed=settings.seed)
    store.extra(FAILURES, failure_rows(failures, cycle))
    kinds = [item.kind for item in failures]
    store.tell({"items": len(items), "blocked": len(failures)} | {kind: kinds.count(kind) for kind in sorted(set(kinds))})
    return population.with_experience(items, cycle).experience


@line.asset(deps=[*of_record.assets, "complexity", "drift"], schema=FAMILIES)
def survivors(store: LineStore, candidates: pl.DataFrame, accepted: pl.DataFrame, instances: pl.DataFrame, experience: pl.DataFrame) -> pl.DataFrame:
    """Every accepted family, old and new: all of them may be parents in the next cycle. Seals it."""
    from evolake import __version__
    from evolake.families.dataset.datasets import MADE

    cycle, settings, before = store.cycle, store.settings, archive(store)
    rows = settled(store, candidates, of_record.passed(store, candidates))
    counts = {row["family_id"]: 0 for row in [*before.without_instances(), *accepted.to_dicts()]}
    counts |= dict(instances.group_by("family_id").len().iter_rows())
    made = before.value(MADE, {}) | {
        cycle: {"ruleset": store.rules().hash, "seed": settings.seed, "backend": settings.backend, "version": __version__},
    }
    after = before.settle(rows, store.rows("candidates", DERIVATIONS)).with_instances(counts)
    after = after.with_experience(experience.sort("number")["item"].to_list(), cycle).with_values(**{MADE: made})
    live = after.rows("accepted")
    store.artifacts(row for row in live if row["cycle"] == cycle)
    store.tell(store.seal(after.frames(), GUARDS, survivors="families").metadata() | {
        "live": len(live), "accepted_this_cycle": accepted.height, "instances_so_far": sum(row["instances"] or 0 for row in live),
        "lessons": experience.height,
    })
    return FAMILIES.frame(live)
