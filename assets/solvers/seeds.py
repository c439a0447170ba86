"""What the line starts from: upstream solvers, fetched with pinned hashes, laid out as variants, and judged by the same gates as everything else."""

from __future__ import annotations

from typing import Any

import dagster as dg
import polars as pl

from assets.cycle import FIRST_CYCLE, seal_seeds
from assets.solvers.line import artifact_rows, line, publish_side, rules, workshop
from evolake.errors import EvolakeError
from evolake.lake import ARTIFACTS, RULES, VERDICTS, TableSchema
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables_archive import VARIANTS
from resources.lake import LakeResource

SEED_ROUND = "0000"
PROVENANCE = TableSchema(
    "provenance", 1,
    {
        "name": pl.String, "version": pl.String, "sha256": pl.String, "source": pl.String, "fetched_at": pl.Datetime("us", "UTC"),
        "licence": pl.String, "adapter": pl.String,
    },
    keys=("name",), provenance=("fetched_at", "source"),
)


@line.seed_asset(deps=[rules], schema=VARIANTS, kinds={"cplusplus", "bubblewrap"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """The profile's seed solvers, fetched once, built in the jail and judged by every gate; seals the population that enters cycle 0001.

    A seed that is blocked stays as a row and does not enter.
    """
    from evolake.gates import load_rules
    from evolake.solvers.evolution.population import empty_population
    from evolake.solvers.evolution.seed_admission import build_second_checkers, judge_seed

    store, settings = lake.open(), lake.settings()
    ruleset = load_rules(settings.seeds / "rules", line.name)
    shop = workshop(lake, empty_population())
    rows: list[dict[str, Any]] = []
    verdicts, fetched = [], []
    for name in settings.of(SolversSettings).seeds:
        judged = judge_seed(shop, name, ruleset, cycle=SEED_ROUND, run_id=context.run_id)
        context.log.info(f"{name}: {judged.row['state']} {judged.row['reason'] or ''}")
        rows.append(judged.row)
        verdicts += judged.verdicts
        fetched.append(judged.provenance)
    publish_side(store, "seeds", ARTIFACTS, artifact_rows(rows, context.run_id), cycle=None, run_id=context.run_id)
    publish_side(store, "seeds", VERDICTS, [verdict.row() for verdict in verdicts], cycle=None, run_id=context.run_id)
    publish_side(store, "seeds", RULES, ruleset.rows(), cycle=None, run_id=context.run_id)
    store.publish(line.name, "provenance", PROVENANCE.frame(fetched), cycle=None, run_id=context.run_id, schema=PROVENANCE)
    try:
        checkers = build_second_checkers(shop)
    except EvolakeError as error:
        context.log.warning(f"WARN: champions are checked by one proof checker alone: {error.what}")
        checkers = []
    accepted = [row for row in rows if row["state"] == "accepted"]
    if not accepted:
        reasons = "; ".join(f"{row['title']}: {row['reason']}" for row in rows) or "none is named"
        advice = "See evolake doctor, or name others in EVOLAKE_SOLVERS__SEEDS."
        raise dg.Failure(f"no seed solver can be used ({reasons}). {advice}", allow_retries=False)
    sealed = seal_seeds(context, lake, line, empty_population().add(variants=rows).frames())
    told = {"accepted": len(accepted), "blocked": len(rows) - len(accepted), "first_cycle": FIRST_CYCLE, "second_proof_checkers": checkers}
    context.add_output_metadata(sealed.metadata() | told)
    return VARIANTS.frame(rows)
