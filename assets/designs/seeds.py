"""What the line starts from: the design files under data_lake/seeds/designs/, through the same gates as
everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import polars as pl

from assets.added_seeds import with_seeds
from assets.designs.line import gates, jails, line, rules
from assets.designs.records import candidate_rows, record_candidates
from assets.store import LineStore
from evolake.designs.tables import DESIGNS
from resources.jail import JailResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.designs.evolution.proposals import Judged


@line.seed_asset(deps=[rules], gates=(), schema=DESIGNS, kinds={"python"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource, jail: JailResource) -> pl.DataFrame:
    """Seed designs, judged by every gate; seals the population that enters cycle 0001. A file that is blocked
    stays as a row and does not enter."""
    from evolake.designs.evolution.added_seeds import SEEDS
    from evolake.designs.evolution.population import empty_population
    from evolake.designs.evolution.proposals import seed_candidate
    from evolake.designs.genome.recognise import recognised
    from evolake.lake.added_seeds import seeds_of

    store = LineStore(line, context, lake)
    judge = gates(store, jails(jail))
    known: dict[str, str] = {}
    candidates: list[Judged] = []
    items = seeds_of(SEEDS, store.settings)
    for item in items:
        source = item.pack().decode(errors="replace")
        candidate = seed_candidate(item.name, source, known, judge, recognised(source, jails(jail)))
        if candidate.accepted and candidate.traced is not None:
            known[candidate.traced.graph_sha] = candidate.design_id
        candidates.append(candidate)
    rows = candidate_rows(store, candidates)
    tables = with_seeds(store, empty_population().add(designs=rows), items, "designs", rows).frames()
    store.may_seal(tables)
    record_candidates(store, candidates)
    store.tell(
        store.seal_seeds(
            rows,
            tables,
            lacking=f"no seed design in {store.settings.seeds / SEEDS.folder} can be used",
            do="Add a design file and materialize again.",
        )
    )
    return DESIGNS.frame(rows)
