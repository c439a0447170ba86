"""What the line starts from: the design files under data_lake/seeds/designs/, through the same gates as everything else."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.cycle import FIRST_CYCLE, seal_seeds
from assets.designs.line import gates, line, publish_side, rules
from assets.designs.records import record_candidates
from evolake.designs.tables import DESIGNS
from evolake.lake import RULES
from resources.jail import JailResource
from resources.lake import LakeResource

SEED_ROUND = "0000"


@line.seed_asset(deps=[rules], schema=DESIGNS, kinds={"python"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource, jail: JailResource) -> pl.DataFrame:
    """Seed designs, judged by every gate; seals the population that enters cycle 0001. A file that is blocked stays as a row and does not enter."""
    from evolake.designs.evolution.population import empty_population
    from evolake.designs.evolution.proposals import seed_candidate
    from evolake.designs.genome.grammar_recognise import recognised
    from evolake.gates import load_rules

    store, settings = lake.open(), lake.settings()
    folder = settings.seeds / "designs"
    judge = gates(lake, jail.open(), SEED_ROUND, context.run_id)
    known: dict[str, str] = {}
    candidates = []
    for path in sorted(folder.glob("*.py")):
        source = path.read_text(errors="replace")
        candidate = seed_candidate(path.stem, source, known, judge, recognised(source, jail.open()))
        if candidate.accepted and candidate.traced is not None:
            known[candidate.traced.graph_sha] = candidate.design_id
        candidates.append(candidate)
    rows = record_candidates(store, "seeds", candidates, cycle=SEED_ROUND, part=None, run_id=context.run_id)
    publish_side(store, "seeds", RULES, load_rules(settings.seeds / "rules", line.name).rows(), cycle=None, run_id=context.run_id)
    accepted = [row for row in rows if row["state"] == "accepted"]
    if not accepted:
        reasons = "; ".join(f"{row['title']}: {row['reason']}" for row in rows) or "there is no file"
        raise dg.Failure(f"no seed design in {folder} can be used ({reasons}). Add a design file and materialize again.", allow_retries=False)
    sealed = seal_seeds(context, lake, line, empty_population().add(designs=rows).frames())
    context.add_output_metadata(sealed.metadata() | {"accepted": len(accepted), "blocked": len(rows) - len(accepted), "first_cycle": FIRST_CYCLE})
    return DESIGNS.frame(rows)
