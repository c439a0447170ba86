"""The opening of a cycle: the evolution agent proposes, the gates object, it repairs or gives up. The gates
of record come after this."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import Admit, Arrival, Seedling, admit_seeds
from assets.families.line import archive, judge, line, open_jail
from assets.store import LineStore
from evolake.errors import InputError
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import (
    CANDIDATES,
    FAILED_PROPOSALS,
    FAMILIES,
    IDEAS,
    LEARNABILITY,
    LEARNABILITY_READ,
    MEASURED,
    VALIDATOR_AUTHORS,
)
from evolake.scratch import Scratch
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.agents import Agents
    from evolake.compute import Jails
    from evolake.families.model.population import Population


@line.asset(deps=[line.incoming], schema=CANDIDATES, kinds={"python", "bubblewrap"})
def candidates(
    context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource
) -> pl.DataFrame:
    """Every version of every attempt, with the evidence of the gates that it reached. Opens the cycle, and
    takes in new seed families."""
    from evolake.families.evolution.learnability import answered_text
    from evolake.families.evolution.proposing import check_evolution_agent, propose_families
    from evolake.families.evolution.records import (
        TRIED,
        derivation_rows,
        idea_rows,
        proposal_rows,
        tried_ideas,
    )
    from evolake.families.evolution.requests import EvolutionSources
    from evolake.families.evolution.shipped_seeds import SEEDS
    from evolake.families.model.population import load_family, population_of
    from evolake.lake.added_seeds import seeds_of

    store = LineStore(line, context, lake, compute)
    cycle, settings = store.cycle, store.settings
    check_evolution_agent(settings.of(FamiliesSettings), settings.backend)
    with store.roles() as agents, open_jail(store) as pool:
        opened, sealed, examine = (
            store.open_cycle(),
            population_of(store.population()),
            judge(store, pool, agents, store.rules()),
        )
        admit_seeds(
            store,
            sealed,
            lambda: seeds_of(SEEDS, settings),
            "families",
            admitting(store, sealed, pool, agents, examine),
        )
        population, notes = archive(store), store.guidance()
        factors = learnt(store)
        answered = {row["family_id"]: answered_text(row) for row in store.rows(LEARNABILITY.name)}
        retired = {
            row["family_id"]: answered.get(row["family_id"], "the scores of its replies")
            for row in population.rows("retired")
        }
        parents = [load_family(row["record_sha"], store.blobs) for row in population.rows("accepted")]
        tried = tried_ideas(population.value(TRIED, []), retired)
        sources = EvolutionSources(
            parents,
            population.known(),
            population.lessons(),
            notes,
            factors,
            tried,
            settings.agents.waves,
            answered,
        )
        made = propose_families(
            agents,
            sources,
            pool=pool,
            judge=examine,
            settings=settings.of(FamiliesSettings),
            cycle=cycle,
            root_seed=settings.seed,
        )
    rows = proposal_rows(
        made.proposals, store.blobs, cycle=cycle, origin=settings.backend, authors=made.authors
    )
    store.artifacts(rows, "candidate")
    store.derivations(item for row in rows for item in derivation_rows(row))
    store.extra(VALIDATOR_AUTHORS, {(row["family_id"], row["voter"]): row for row in made.authors}.values())
    failed_proposals = store.extra(
        FAILED_PROPOSALS,
        (
            {"number": item.number, "cycle": cycle, "operator": item.operator, "reason": item.reason}
            for item in made.failures
        ),
    )
    store.extra(IDEAS, idea_rows(made, cycle))
    store.extra(MEASURED, made.measured)
    if not rows:
        store.warn("this cycle has no candidate; the earlier families stay")
    store.tell(
        opened.metadata()
        | {
            "attempts": len(made.proposals) + failed_proposals.height,
            "versions": len(rows),
            "passed_on_the_way": len(made.accepted),
            "unmade": failed_proposals.height,
            "parents": len(parents),
            "lessons": len(population.lessons()),
            "guidance": len(notes),
            "backend": settings.backend,
            "learnability": f"{len(factors)} families scored by the policy of the prompts line"
            if factors
            else "not used",
        }
    )
    return CANDIDATES.frame(rows)


def learnt(store: LineStore) -> dict[str, float]:
    """Return what the prompts line says of families, now or as an earlier run of this cycle noted it:
    family_id -> factor of its draw. Publishes what was read, by content, and the scores."""
    from evolake.families.evolution.learnability import factors, read_scores, reading

    settings = store.settings.of(FamiliesSettings)
    read = reading(
        store.lake,
        settings,
        store.cycle,
        store.rows(LEARNABILITY_READ.name) if store.has(LEARNABILITY_READ.name) else [],
    )
    if read.renewed:
        store.warn(
            "the learnability that this cycle read before is not there any more, or not with that "
            "content: it reads the newest"
        )
    store.extra(LEARNABILITY_READ, read.rows)
    scores = read_scores(store.lake, read.rows, store.cycle)
    result = factors(scores, settings.learnability)
    store.extra(LEARNABILITY, (row | {"factor": result[row["family_id"]]} for row in scores))
    if scores:
        text = ", ".join(f"{row['prompts_cycle']} ({row['content_sha'][:12]})" for row in read.rows)
        store.log(
            f"learnability of {len(scores)} families, from cycles {text} of the prompts line"
            + (", as noted before" if read.kept else "")
        )
    return result


def admitting(
    store: LineStore, population: Population, pool: Jails, agents: Agents, examine: Callable[..., Any]
) -> Admit:
    """Return what becomes of a seed family that immigrates: as of any other, compared with all that are
    there."""
    from evolake.families.evolution.records import candidate_row
    from evolake.families.evolution.validator_pool import complete
    from evolake.families.model.family_files import read_family
    from evolake.families.model.population import PASSED

    known, present = population.known(), {row["family_id"]: row for row in population.rows(*PASSED)}

    def admit(seed: Seedling) -> Arrival:
        assert seed.blob_sha is not None, "what could not be kept is not judged"
        with Scratch("seed") as parent:
            folder = Path(parent) / seed.name
            store.blobs.get_tree(seed.blob_sha, folder)
            try:
                family = read_family(folder)
            except (
                InputError
            ) as error:  # its reason is kept, and is the same wherever and whenever the cycle is done
                raise InputError(str(error).replace(str(folder), seed.name)) from None
        whole = complete(
            family,
            pool=pool,
            agents=agents,
            settings=store.settings.of(FamiliesSettings),
            root_seed=store.settings.seed,
        )
        if whole.family_id in present:
            return Arrival(present[whole.family_id], present=True)
        examined = examine(whole, known)
        known.extend([examined.fingerprint] if examined.accepted else [])
        row = candidate_row(examined, store.blobs, cycle=store.cycle, origin="seed")
        return Arrival({name: row[name] for name in FAMILIES.columns}, examined.verdicts)

    return admit
