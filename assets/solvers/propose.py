"""The opening of a cycle: plans by the planner, variants by the coder, who is shown what the gates object to;
and the upstream solvers that the line starts from, fetched with pinned hashes and judged by the same gates.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import Admit, Arrival, Seedling, admit_seeds, with_seeds
from assets.solvers.line import archive, line, open_workspace, rules, rules_in_force
from assets.store import LineStore
from evolake.errors import EvolakeError
from evolake.scratch import Scratch
from evolake.solvers.tables import CODER_RUNS, FAILED_PROPOSALS, GATE_RUNS, PLANS, PROVENANCE, VARIANTS
from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.gates import Verdict
    from evolake.solvers.evolution.population import Population


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


@line.asset(deps=[line.incoming], schema=PLANS)
def plan(
    context: dg.AssetExecutionContext, lake: LakeResource, compute: ComputeResource, agents: AgentsResource
) -> pl.DataFrame:
    """Ask the planner for its plans for this cycle: which variant to build on, what to change, and what that
    should improve.

    Opens the cycle, and takes in new seed solvers.
    """
    from evolake.lake.added_seeds import seeds_of
    from evolake.solvers.evolution.authors import submitted_plans
    from evolake.solvers.evolution.coding import check_coder
    from evolake.solvers.evolution.entering_seeds import SEEDS
    from evolake.solvers.evolution.population import population_of
    from evolake.solvers.evolution.post_mortem import check_analyst
    from evolake.solvers.evolution.variant_making import plan_cycle
    from evolake.solvers.tuning.rows import option_knowledge

    store = LineStore(line, context, lake, compute)
    settings = store.settings
    check_coder(settings)
    check_analyst(settings)
    with store.roles(agents) as served:
        opened, sealed = store.open_cycle(), population_of(store.population())
        admit_seeds(store, sealed, lambda: seeds_of(SEEDS, settings), "variants", admitting(store, sealed))
        population, notes = archive(store), store.guidance()
        planned = plan_cycle(
            served,
            population,
            open_workspace(store, population),
            rules_in_force(store, population),
            seeds=store.seeds,
            guidance=notes,
            known=option_knowledge(store.lake, {row["base"] for row in population.seeds()}),
        )
    if planned.failure:
        store.warn(f"the planner gave no usable reply ({planned.failure.reason}); this cycle has no plans")
    submitted = submitted_plans(store.lake, store.cycle, len(planned.rows))
    store.tell(
        opened.metadata() | {"backend": settings.backend, "guidance": len(notes), "submitted": len(submitted)}
    )
    return PLANS.frame([*planned.rows, *submitted])


def admitting(store: LineStore, population: Population) -> Admit:
    """Return what becomes of a seed solver that immigrates: fetched, laid out, and judged by every gate
    against itself as base.

    One whose name another seed has gets its own name: variants descend from a seed by its name.
    """
    from evolake.solvers.evolution.entering_seeds import judge_seed, seed_of

    workspace, ruleset = open_workspace(store, population), rules_in_force(store, population)
    bases = {row["base"] for row in population.seeds()}
    present = {row["variant_id"]: row for row in population.rows() if row["state"] != "blocked"}

    def admit(seedling: Seedling) -> Arrival:
        assert seedling.blob_sha is not None, "an entry can always be kept"
        seed = seed_of(store.text(seedling.blob_sha), store.blobs, workspace.cache)
        if seed.name in bases:
            seed = replace(seed, name=f"{seed.name}-{seedling.seed_sha[:6]}")
        judged = judge_seed(workspace, seed, ruleset, cycle=store.cycle, run_id=store.run_id)
        if judged.row["variant_id"] in present:
            return Arrival(present[judged.row["variant_id"]], present=True)
        return Arrival(judged.row, judged.verdicts)

    return admit


@line.asset(deps=[line.incoming], schema=VARIANTS, kinds={"cplusplus", "bubblewrap"})
def variants(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    compute: ComputeResource,
    agents: AgentsResource,
    plan: pl.DataFrame,
) -> pl.DataFrame:
    """Create new repositories, each with its hypothesis, its edit and what the coder was shown on the way.
    The gates of record come after this."""
    from evolake.solvers.evolution.coder_turn import CoderTurn
    from evolake.solvers.evolution.coding import coding
    from evolake.solvers.evolution.variant_making import make_variants
    from evolake.solvers.evolution.workspace import judge_folder
    from evolake.solvers.roles.shown import shown_rules

    store = LineStore(line, context, lake, compute)
    cycle, settings, population = store.cycle, store.settings, archive(store)
    workspace, ruleset = open_workspace(store, population), rules_in_force(store, population)
    with (
        store.roles(agents) as served,
        coding(settings, served, workspace, cycle) as coder,
        Scratch("variants", dir=workspace.scratch) as folder,
        workspace.at_once(settings.workers) as gates,
    ):
        turn = CoderTurn(
            served,
            judge_folder(gates, ruleset, cycle=cycle, run_id=store.run_id),
            Path(folder),
            workspace.settings,
            store.seeds,
            shown_rules(ruleset),
            coder.author,
            gates.slots,
        )
        made = make_variants(turn, population, plan.to_dicts(), workspace)
        runs = coder.runs()
    store.artifacts(made.rows)
    store.derivations(made.derivations)
    store.extra(GATE_RUNS, made.runs)
    store.extra(FAILED_PROPOSALS, made.failed_proposals)
    if runs or store.has(CODER_RUNS.name):
        store.extra(CODER_RUNS, runs)
    if not made.rows:
        store.warn("this cycle has no variant; it ranks what it has")
    store.tell(
        {
            "plans": plan.height,
            "variants": len(made.rows),
            "unmade": len(made.failed_proposals),
            "failed_calls": made.failures,
            "repairs": sum(row["repairs"] for row in made.rows),
            "backend": settings.backend,
        }
    )
    return VARIANTS.frame(made.rows)
