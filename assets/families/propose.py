"""The opening of a cycle: the evolution agent proposes, the gates object, it mends or gives up. The gates of record come after this."""

from __future__ import annotations

import polars as pl

from assets.families.line import archive, judge, line, open_jail
from assets.store import LineStore
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import CANDIDATES, UNMADE


@line.asset(deps=[line.incoming], schema=CANDIDATES, kinds={"python", "bubblewrap"})
def candidates(store: LineStore) -> pl.DataFrame:
    """Every version of every attempt, with the evidence of the gates that it reached. Opens the cycle."""
    from evolake.families.evolution.proposing import propose_families
    from evolake.families.evolution.records import derivation_rows, proposal_rows
    from evolake.families.model.population import load_family

    cycle, settings = store.cycle, store.settings
    with store.roles() as agents, open_jail(store) as pool:
        opened, population, notes = store.open_cycle(), archive(store), store.guidance()
        parents = [load_family(row["record_sha"], store.blobs) for row in population.rows("accepted")]
        made = propose_families(
            agents, parents, pool=pool, judge=judge(store, pool, agents, store.rules()), settings=settings.of(FamiliesSettings), cycle=cycle,
            root_seed=settings.seed, known=population.known(), experience=population.lessons(), guidance=notes,
        )
    rows = proposal_rows(made.proposals, store.blobs, cycle=cycle, origin=settings.backend)
    store.artifacts(rows, "candidate")
    store.derivations(one for row in rows for one in derivation_rows(row))
    unmade = store.extra(
        UNMADE, ({"number": number, "cycle": cycle, "operator": operator, "reason": reason} for number, operator, reason in made.failures)
    )
    if not rows:
        store.warn("this cycle has no candidate; the families before it go on")
    store.tell(opened.metadata() | {
        "attempts": len(made.proposals) + unmade.height, "versions": len(rows), "passed_on_the_way": len(made.accepted), "unmade": unmade.height,
        "parents": len(parents), "lessons": len(population.lessons()), "guidance": len(notes), "backend": settings.backend,
    })
    return CANDIDATES.frame(rows)
