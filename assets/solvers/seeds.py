"""What the line starts from: upstream solvers, fetched with pinned hashes, laid out as variants, and judged
by the same gates as everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import with_seeds
from assets.solvers.line import line, open_workspace, rules
from assets.store import LineStore
from evolake.errors import EvolakeError
from evolake.solvers.tables import PROVENANCE, VARIANTS
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.gates import Verdict


@line.seed_asset(deps=[rules], gates=(), schema=VARIANTS, kinds={"cplusplus", "bubblewrap"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource) -> pl.DataFrame:
    """Fetch the profile's seed solvers once, build them in the jail, and judge them by every gate; seal the
    population that enters cycle 0001.

    A seed that is blocked stays as a row and does not enter.
    """
    from evolake.lake.added_seeds import seeds_of
    from evolake.solvers.evolution.entering_seeds import SEEDS, build_second_checkers, judge_seed, known_seeds
    from evolake.solvers.evolution.population import empty_population

    store = LineStore(line, context, lake, compute)
    ruleset, workspace = store.rules(), open_workspace(store, empty_population())
    rows: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    fetched: list[dict[str, Any]] = []
    lying = seeds_of(SEEDS, store.settings)
    known = known_seeds(store.settings)
    for number, name in enumerate((item.name for item in lying), start=1):
        store.progress("seed solver", number, len(lying), name)
        judged = judge_seed(workspace, known[name], ruleset, cycle=store.cycle, run_id=store.run_id)
        store.log(f"{name}: {judged.row['state']} {judged.row['reason'] or ''}")
        rows.append(judged.row)
        verdicts += judged.verdicts
        fetched.append(judged.provenance)
    tables = with_seeds(store, empty_population().add(variants=rows), lying, "variants", rows).frames()
    store.may_seal(tables)
    store.artifacts(rows)
    store.verdicts(verdicts)
    store.extra(PROVENANCE, fetched)
    try:
        checkers = build_second_checkers(workspace)
    except EvolakeError as error:
        store.warn(f"champions are checked by one proof checker alone: {error.what}")
        checkers = []
    store.tell(
        {"second_proof_checkers": checkers}
        | store.seal_seeds(
            rows,
            tables,
            lacking="no seed solver can be used",
            do="See evolake doctor, or name others in EVOLAKE_SOLVERS__SEEDS.",
        )
    )
    return VARIANTS.frame(rows)
