"""The opening of a cycle: the evolution agent proposes, the gates object, it repairs or gives up. The gates
of record come after this. And the families under data_lake/seeds/families/ that the line starts from, through
the same gates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import Admit, Arrival, Seedling, admit_seeds, with_seeds
from assets.families.line import archive, judge, line, open_jail, rules
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
    SEED_EVIDENCE,
    VALIDATOR_AUTHORS,
)
from evolake.scratch import Scratch
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evolake.agents import Agents
    from evolake.compute import Jails
    from evolake.families.evolution.shipped_seeds import ShippedGates
    from evolake.families.model.contract import Family
    from evolake.families.model.population import Population
    from evolake.families.model.similarity import Fingerprint
    from evolake.gates import Verdict


@line.seed_asset(deps=[rules], gates=(), schema=FAMILIES, kinds={"python", "bubblewrap"})
def seeds(context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource) -> pl.DataFrame:
    """Seed families, judged by every gate; seals the population that enters cycle 0001. One that is blocked
    stays as a row and does not enter."""
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
        rows, verdicts, evidence = judged_seeds(store, families, gates, reviewers)
    tables = with_seeds(store, empty_population().add(families=rows), items, "families", rows).frames()
    store.may_seal(tables)
    store.artifacts(rows)
    store.verdicts(verdicts)
    store.extra(SEED_EVIDENCE, evidence)
    store.log(f"evidence: {gates.describe()}")
    lacking = f"no seed family in {folder} can be used"
    sealed = store.seal_seeds(rows, tables, lacking=lacking, do="Fix one and materialize again.")
    store.tell({"evidence": gates.describe()} | sealed)
    return FAMILIES.frame(rows)


def judged_seeds(
    store: LineStore, families: Sequence[Family], gates: ShippedGates, reviewers: Mapping[str, Agents]
) -> tuple[list[dict[str, Any]], list[Verdict], list[dict[str, str]]]:
    """Take seed families through their gates, each compared with the accepted ones before it; return rows of
    FAMILIES, verdicts, and rows of SEED_EVIDENCE.

    reviewers: family's name -> who reviews it, if no evidence of it is shipped.
    """
    from evolake.families.evolution.records import candidate_row

    rows: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    evidence: dict[str, dict[str, str]] = {}
    known: list[Fingerprint] = []
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
    return rows, verdicts, list(evidence.values())


def reviewers_of(
    store: LineStore, agents: Agents, families: Sequence[Family], shipped: Mapping[str, Any]
) -> dict[str, Agents]:
    """Return family -> who reviews it: operators, unless the settings want a model, or the family is beyond
    operators."""
    from evolake.agents import Agents
    from evolake.agents.roles import OperatorsBackend
    from evolake.families.evolution.shipped_seeds import beyond_operators

    settings, sizes = store.settings, store.settings.of(FamiliesSettings)
    if settings.backend == "operators" or sizes.seed_review == "model":
        return {family.name: agents for family in families}
    operators = Agents(OperatorsBackend(store.cycle), line=line.name, cycle=store.cycle)
    return {
        family.name: agents if beyond_operators(family, sizes, settings.seed, shipped) else operators
        for family in families
    }


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
