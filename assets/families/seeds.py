"""What the line starts from: the families under data_lake/seeds/families/, through the same gates as
everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from assets.added_seeds import with_seeds
from assets.families.line import judge, line, open_jail, rules
from assets.store import LineStore
from evolake.errors import InputError
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import FAMILIES, SEED_EVIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evolake.families.gates.judging import FamilyResults
    from evolake.families.model.contract import Family
    from evolake.families.model.similarity import Fingerprint
    from evolake.gates import Verdict


@line.seed_asset(deps=[rules], gates=(), schema=FAMILIES, kinds={"python", "bubblewrap"})
def seeds(store: LineStore) -> pl.DataFrame:
    """Seed families, judged by every gate; seals the population that enters cycle 0001. One that is blocked
    stays as a row and does not enter."""
    from evolake.agents import Agents
    from evolake.agents.backends import OperatorsBackend
    from evolake.families.evolution.records import candidate_row
    from evolake.families.evolution.shipped_seeds import (
        FILE,
        SEEDS,
        ShippedGates,
        beyond_operators,
        evidence_key,
        read_entries,
    )
    from evolake.families.evolution.validator_pool import complete
    from evolake.families.model.family_files import families_in
    from evolake.families.model.population import empty_population
    from evolake.lake.added_seeds import seeds_of

    settings, sizes = store.settings, store.settings.of(FamiliesSettings)
    items, folder = seeds_of(SEEDS, settings), settings.seeds / SEEDS.folder
    if not items:
        what = f"no families in {folder}"
        raise InputError(
            what,
            wanted="folders as `evolake families new` writes them",
            do="evolake families new DIR, then evolake seeds add DIR",
        )
    by_model = settings.backend != "operators" and sizes.seed_review == "model"
    shipped = {} if by_model else read_entries(settings.seeds / FILE)
    rows: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    evidence: list[dict[str, str]] = []
    known: list[Fingerprint] = []
    with store.roles() as agents, open_jail(store) as pool:
        same = by_model or settings.backend == "operators"
        reviewers = (
            agents if same else Agents(OperatorsBackend(store.cycle), line=line.name, cycle=store.cycle)
        )
        ruleset = store.rules()
        read = list(families_in(item.path for item in items if item.path))
        bare = {family.name for family in read if beyond_operators(family, sizes, settings.seed, shipped)}
        by = {family.name: agents if family.name in bare else reviewers for family in read}
        families = [
            complete(family, pool=pool, agents=agents, settings=sizes, root_seed=settings.seed)
            for family in read
        ]

        def examine(family: Family, known: Sequence[Fingerprint]) -> FamilyResults:
            return judge(store, pool, by[family.name], ruleset)(family, known)

        gates = ShippedGates(
            shipped,
            settings.seeds / FILE,
            examine,
            ruleset,
            sizes,
            settings.seed,
            store.cycle,
            store.run_id,
            expected=sum(evidence_key(family, sizes, settings.seed) in shipped for family in families),
        )
        for number, family in enumerate(families):
            store.progress("seed family", number + 1, len(families), family.name)
            before = gates.made
            examined, seen = gates.judge(family, known)
            evidence.append(
                {
                    "family_id": family.family_id,
                    "cycle": store.cycle,
                    "evidence": "made" if gates.made > before else "shipped",
                    "reviewed_by": "operators" if gates.made == before else by[family.name].backend.name,
                }
            )
            known += [examined.fingerprint] if examined.accepted and examined.fingerprint else []
            row = candidate_row(
                examined, store.blobs, cycle=store.cycle, origin="seed", attempt=number, seen=seen
            )
            rows.append({name: row[name] for name in FAMILIES.columns})
            verdicts += examined.verdicts
            store.log(f"{family.name}: {row['state']} {row['reason'] or ''}")
    tables = with_seeds(store, empty_population().add(families=rows), items, "families", rows).frames()
    store.may_seal(tables)
    store.artifacts(rows)
    store.verdicts(verdicts)
    store.extra(SEED_EVIDENCE, {row["family_id"]: row for row in evidence}.values())
    store.log(f"evidence: {gates.describe()}")
    store.tell(
        {"evidence": gates.describe()}
        | store.seal_seeds(
            rows,
            tables,
            lacking=f"no seed family in {folder} can be used",
            do="Fix one and materialize again.",
        )
    )
    return FAMILIES.frame(rows)
