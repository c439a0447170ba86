"""What the line starts from: the families under data_lake/seeds/families/, through the same gates as everything else."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.cycle import FIRST_CYCLE, seal_seeds
from assets.families.line import artifact_rows, judge, line, open_jail, open_roles, publish_side, rules, rules_in_force
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import FAMILIES
from evolake.lake import AGENT_CALLS, ARTIFACTS, RULES, VERDICTS
from resources.lake import LakeResource

SEED_ROUND = "0000"


@line.seed_asset(deps=[rules], schema=FAMILIES, kinds={"python", "bubblewrap"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Seed families, judged by every gate; seals the population that enters cycle 0001. One that is blocked stays as a row and does not enter."""
    from evolake.families.evolution.records import candidate_row
    from evolake.families.evolution.validator_pool import complete
    from evolake.families.model.loading import read_families
    from evolake.families.model.population import empty_population

    store, settings, run_id = lake.open(), lake.settings(), context.run_id
    folder, ruleset = settings.seeds / "families", rules_in_force(lake)
    rows, verdicts, known = [], [], []
    with open_roles(lake, SEED_ROUND, run_id) as agents, open_jail(lake) as pool:
        examine = judge(lake, pool, agents, ruleset, SEED_ROUND, run_id)
        for number, family in enumerate(read_families(folder)):
            whole = complete(family, pool=pool, agents=agents, settings=settings.of(FamiliesSettings), root_seed=settings.seed)
            examined = examine(whole, known)
            known += [examined.fingerprint] if examined.accepted else []
            row = candidate_row(examined, store.blobs, cycle=SEED_ROUND, origin="seed", attempt=number)
            rows.append({name: row[name] for name in FAMILIES.columns})
            verdicts += [verdict.row() for verdict in examined.verdicts]
            context.log.info(f"{family.name}: {row['state']} {row['reason'] or ''}")
        publish_side(store, "seeds", AGENT_CALLS, agents.rows(), cycle=None, run_id=run_id)
    publish_side(store, "seeds", ARTIFACTS, artifact_rows(rows, run_id), cycle=None, run_id=run_id)
    publish_side(store, "seeds", VERDICTS, verdicts, cycle=None, run_id=run_id)
    publish_side(store, "seeds", RULES, ruleset.rows(), cycle=None, run_id=run_id)
    accepted = [row for row in rows if row["state"] == "accepted"]
    if not accepted:
        reasons = "; ".join(f"{row['name']}: {row['reason']}" for row in rows)
        raise dg.Failure(f"no seed family in {folder} can be used ({reasons}). Mend one and materialize again.", allow_retries=False)
    sealed = seal_seeds(context, lake, line, empty_population().add(families=rows).frames())
    context.add_output_metadata(sealed.metadata() | {"accepted": len(accepted), "blocked": len(rows) - len(accepted), "first_cycle": FIRST_CYCLE})
    return FAMILIES.frame(rows)
