"""Start the line: the families under data_lake/seeds/families/, through the same gates as everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import with_seeds
from assets.families.line import judge, line, open_jail, rules
from assets.store import LineStore
from evolake.errors import InputError
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import FAMILIES, SEED_EVIDENCE
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evolake.agents import Agents
    from evolake.families.model.contract import Family
    from evolake.families.model.similarity import Fingerprint
    from evolake.gates import Verdict


@line.seed_asset(deps=[rules], gates=(), schema=FAMILIES, kinds={"python", "bubblewrap"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource) -> pl.DataFrame:
    """Seed families, judged by every gate; seals the population that enters cycle 0001. One that is blocked
    stays as a row and does not enter."""
    from evolake.families.evolution.records import candidate_row
    from evolake.families.evolution.shipped_seeds import FILE, SEEDS, ShippedGates, evidence_key, read_entries
    from evolake.families.evolution.validator_pool import complete
    from evolake.families.model.family_files import families_in
    from evolake.families.model.population import empty_population
    from evolake.lake.added_seeds import seeds_of

    store = LineStore(line, context, lake, compute)
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
    evidence: dict[str, dict[str, str]] = {}
    known: list[Fingerprint] = []
    with store.roles() as agents, open_jail(store) as pool:
        read = list(families_in(item.path for item in items if item.path))
        reviewers = reviewers_of(store, agents, read, shipped)
        families = [
            complete(family, pool=pool, agents=agents, settings=sizes, root_seed=settings.seed)
            for family in read
        ]
        ruleset = store.rules()
        gates = ShippedGates(
            shipped,
            settings.seeds / FILE,
            lambda family, known: judge(store, pool, reviewers[family.name], ruleset)(family, known),
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
            made = gates.made > before
            evidence[family.family_id] = {
                "family_id": family.family_id,
                "cycle": store.cycle,
                "evidence": "made" if made else "shipped",
                "reviewed_by": reviewers[family.name].backend.name if made else "operators",
            }
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
    store.extra(SEED_EVIDENCE, evidence.values())
    store.log(f"evidence: {gates.describe()}")
    lacking = f"no seed family in {folder} can be used"
    sealed = store.seal_seeds(rows, tables, lacking=lacking, do="Fix one and materialize again.")
    store.tell({"evidence": gates.describe()} | sealed)
    return FAMILIES.frame(rows)


def reviewers_of(
    store: LineStore, agents: Agents, families: Sequence[Family], shipped: Mapping[str, Any]
) -> dict[str, Agents]:
    """Return family -> who reviews it: operators, unless the settings want a model, or the family is beyond
    operators."""
    from evolake.agents import Agents
    from evolake.agents.backends import OperatorsBackend
    from evolake.families.evolution.shipped_seeds import beyond_operators

    settings, sizes = store.settings, store.settings.of(FamiliesSettings)
    if settings.backend == "operators" or sizes.seed_review == "model":
        return {family.name: agents for family in families}
    operators = Agents(OperatorsBackend(store.cycle), line=line.name, cycle=store.cycle)
    return {
        family.name: agents if beyond_operators(family, sizes, settings.seed, shipped) else operators
        for family in families
    }
