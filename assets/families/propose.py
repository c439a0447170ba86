"""The opening of a cycle: the evolution agent proposes, the gates object, it mends or gives up. The gates of record come after this."""

from __future__ import annotations

import dagster as dg
import polars as pl

from assets.cycle import open_cycle
from assets.families.line import archive, artifact_rows, judge, line, open_jail, open_roles, publish_extra, publish_side, rules_in_force
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import CANDIDATES
from evolake.lake import AGENT_CALLS, ARTIFACTS, DERIVATIONS, TableSchema
from resources.lake import LakeResource

UNMADE = TableSchema("unmade", 1, {"number": pl.Int64, "cycle": pl.String, "operator": pl.String, "reason": pl.String}, keys=("number",))


@line.asset(deps=[line.incoming], schema=CANDIDATES, kinds={"python", "bubblewrap"})
def candidates(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Every version of every attempt, with the evidence of the gates that it reached. Opens the cycle."""
    from evolake.agents import read_guidance
    from evolake.families.evolution.proposing import propose_families
    from evolake.families.evolution.records import derivation_rows, proposal_rows
    from evolake.families.model.population import load_family

    cycle, settings, store, run_id = context.partition_key, lake.settings(), lake.open(), context.run_id
    with open_roles(lake, cycle, run_id) as agents, open_jail(lake) as pool:
        opened = open_cycle(context, lake, line)
        population = archive(lake, cycle)
        parents = [load_family(row["record_sha"], store.blobs) for row in population.rows("accepted")]
        notes = [note.text for note in read_guidance(store.root, line.name, cycle)]
        made = propose_families(
            agents, parents, pool=pool, judge=judge(lake, pool, agents, rules_in_force(lake), cycle, run_id),
            settings=settings.of(FamiliesSettings), cycle=cycle,
            root_seed=settings.seed, known=population.known(), experience=population.lessons(), guidance=notes,
        )
        publish_side(store, "candidates", AGENT_CALLS, agents.rows(), cycle=cycle, run_id=run_id)
    rows = proposal_rows(made.proposals, store.blobs, cycle=cycle, origin=settings.backend)
    unmade = [{"number": number, "cycle": cycle, "operator": operator, "reason": reason} for number, operator, reason in made.failures]
    publish_side(store, "candidates", ARTIFACTS, artifact_rows(rows, run_id, "candidate"), cycle=cycle, run_id=run_id)
    publish_side(store, "candidates", DERIVATIONS, [one for row in rows for one in derivation_rows(row)], cycle=cycle, run_id=run_id)
    publish_extra(store, UNMADE, unmade, context=context)
    if not rows:
        context.log.warning("WARN: this cycle has no candidate; the families before it go on")
    context.add_output_metadata(opened.metadata() | {
        "attempts": len(made.proposals) + len(unmade), "versions": len(rows), "passed_on_the_way": len(made.accepted), "unmade": len(unmade),
        "parents": len(parents), "lessons": len(population.lessons()), "guidance": len(notes), "backend": settings.backend,
    })
    return CANDIDATES.frame(rows)
