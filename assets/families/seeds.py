"""What the line starts from: the families under data_lake/seeds/families/, through the same gates as everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assets.families.line import judge, line, open_jail, rules
from assets.store import LineStore
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import FAMILIES

if TYPE_CHECKING:
    from evolake.families.model.similarity import Fingerprint
    from evolake.gates import Verdict


@line.seed_asset(deps=[rules], schema=FAMILIES, kinds={"python", "bubblewrap"})
def seeds(store: LineStore) -> pl.DataFrame:
    """Seed families, judged by every gate; seals the population that enters cycle 0001. One that is blocked stays as a row and does not enter."""
    from evolake.families.evolution.records import candidate_row
    from evolake.families.evolution.validator_pool import complete
    from evolake.families.model.loading import read_families
    from evolake.families.model.population import empty_population

    settings, folder = store.settings, store.settings.seeds / "families"
    rows: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    known: list[Fingerprint] = []
    with store.roles() as agents, open_jail(store) as pool:
        examine = judge(store, pool, agents, store.rules())
        for number, family in enumerate(read_families(folder)):
            whole = complete(family, pool=pool, agents=agents, settings=settings.of(FamiliesSettings), root_seed=settings.seed)
            examined = examine(whole, known)
            known += [examined.fingerprint] if examined.accepted else []
            row = candidate_row(examined, store.blobs, cycle=store.cycle, origin="seed", attempt=number)
            rows.append({name: row[name] for name in FAMILIES.columns})
            verdicts += examined.verdicts
            store.log(f"{family.name}: {row['state']} {row['reason'] or ''}")
    store.artifacts(rows)
    store.verdicts(verdicts)
    tables = empty_population().add(families=rows).frames()
    store.tell(store.seal_seeds(
        rows, tables, lacking=f"no seed family in {folder} can be used", do="Mend one and materialize again.",
    ))
    return FAMILIES.frame(rows)
