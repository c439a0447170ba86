"""The gates of record: verdicts on stored evidence, so that a changed rule is judged anew without a run in the jail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl

from assets.families.line import artifact_rows, judge, line, open_jail, open_roles, publish_extra, publish_side, rules, rules_in_force
from evolake.families.tables import FAMILIES, GATED, REVIEWS, VALIDATOR_VOTES, VOTES
from evolake.lake import AGENT_CALLS, ARTIFACTS, VERDICTS, Lake, side_table
from resources.lake import LakeResource

GATES_OF = {"execution": ("execution",), "quality": ("static", "quality"), "consensus_labels": ("consensus",), "blind_reviews": ("blind",)}
"""Asset -> its gates, both in order."""


def judged(context: dg.AssetExecutionContext, lake: LakeResource, asset: str, frame: pl.DataFrame) -> list[Any]:
    """Every candidate that met a gate of `asset` (evolake.families.stages.Staged). Publishes the verdicts as its side table."""
    from evolake.families.stages import judge_stage

    cycle, run_id, store, ruleset = context.partition_key, context.run_id, lake.open(), rules_in_force(lake)
    allowed = passed_before(store, cycle, asset, frame)
    waiting = [row for row in frame.to_dicts() if row["family_id"] in allowed]
    found: list[Any] = []
    calls: list[dict[str, Any]] = []
    for gate in GATES_OF[asset]:
        met = [
            judge_stage(row, gate, ruleset, lambda one: _again(context, lake, ruleset, one, calls), blobs=store.blobs, cycle=cycle, run_id=run_id)
            for row in waiting
        ]
        found += met
        waiting = [item.row for item in met if item.passed]
    publish_side(store, asset, AGENT_CALLS, calls, cycle=cycle, run_id=run_id)
    publish_side(store, asset, VERDICTS, [verdict.row() for item in found for verdict in item.verdicts], cycle=cycle, run_id=run_id)
    for item in found:
        if not item.passed:
            context.log.info(f"{item.row['name']} ({item.row['family_id'][:12]}) blocked at {item.gate}: {item.verdicts[-1].reason}")
    context.add_output_metadata({
        "judged": len(allowed), "passed": len(waiting), "blocked": len(allowed) - len(waiting), "ruleset": ruleset.hash,
    })
    return found


def verdict_rows(store: Lake, cycle: str, assets: Sequence[str] = tuple(GATES_OF)) -> list[dict[str, Any]]:
    """The verdicts of record of this cycle."""
    return [row for asset in assets for row in store.read(line.name, side_table(asset, VERDICTS), cycle).to_dicts()]


def passed_before(store: Lake, cycle: str, asset: str, frame: pl.DataFrame) -> set[str]:
    """Candidates of `frame` that every gate before those of `asset` has passed; "" for all gates."""
    from evolake.families.stages import gates_of

    names = list(GATES_OF)
    before = names[: names.index(asset)] if asset in GATES_OF else names
    wanted = {gate for name in before for gate in GATES_OF[name]}
    passed: dict[str, set[str]] = {}
    for said in gates_of(verdict_rows(store, cycle, before)):
        if said["passed"]:
            passed.setdefault(said["family_id"], set()).add(said["gate"])
    return {family_id for family_id in frame["family_id"].to_list() if passed.get(family_id, set()) >= wanted}


@line.asset(deps=[rules], schema=GATED)
def execution(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 0: every source runs within its limits, twice the same."""
    return GATED.frame(item.gated() for item in judged(context, lake, "execution", candidates))


@line.asset(deps=[rules, "execution"], schema=GATED)
def quality(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 1: what can be seen on a sample and on the sources, and the quality reviewer."""
    return GATED.frame(item.gated() for item in judged(context, lake, "quality", candidates))


@line.asset(deps=[rules, "execution", "quality"], schema=VOTES)
def consensus_labels(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 2a: the label of each sampled instance by strict majority of independent validators; an instance without one has none."""
    from evolake.families.records import vote_rows

    whole, single = [], []
    for item in judged(context, lake, "consensus_labels", candidates):
        labels, votes = vote_rows(item.row["family_id"], context.partition_key, item.rows, item.passed)
        whole += labels
        single += votes
    publish_extra(lake.open(), VALIDATOR_VOTES, single, context=context)
    return VOTES.frame(whole)


@line.asset(deps=[rules, "execution", "quality", "consensus_labels"], schema=REVIEWS)
def blind_reviews(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 2b: reviewers who saw the text only, what they answered, and whether it is the label."""
    found = judged(context, lake, "blind_reviews", candidates)
    return REVIEWS.frame(
        review | {"family_id": item.row["family_id"], "cycle": context.partition_key, "passed": item.passed} for item in found for review in item.rows
    )


@line.asset(deps=list(GATES_OF), schema=FAMILIES)
def accepted(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """The candidates that every gate of record has passed."""
    store, cycle, run_id = lake.open(), context.partition_key, context.run_id
    passed = passed_before(store, cycle, "", candidates)
    rows = settled(store, cycle, candidates, passed)
    publish_side(store, "accepted", ARTIFACTS, artifact_rows(rows, run_id), cycle=cycle, run_id=run_id)
    if not passed:
        context.log.warning(f"WARN: no candidate of cycle {cycle} passed the gates; the families before it go on")
    context.add_output_metadata({"accepted": len(passed), "blocked": len(rows) - len(passed)})
    return FAMILIES.frame(row for row in rows if row["state"] == "accepted")


def settled(store: Lake, cycle: str, candidates: pl.DataFrame, passed: set[str]) -> list[dict[str, Any]]:
    """Rows of FAMILIES for all candidates, with state, gate and reason by the verdicts of record."""
    from evolake.families.stages import gates_of

    blocks = {said["family_id"]: said for said in gates_of(verdict_rows(store, cycle)) if not said["passed"]}
    rows = []
    for row in candidates.to_dicts():
        block: Mapping[str, Any] = blocks.get(row["family_id"], {})
        state = "accepted" if row["family_id"] in passed else "blocked"
        rows.append({
            **{name: row[name] for name in FAMILIES.columns}, "state": state, "gate": block.get("gate"), "rule_id": block.get("rule_id"),
            "reason": block.get("reason"),
        })
    return rows


def _again(context: dg.AssetExecutionContext, lake: LakeResource, ruleset: Any, row: Mapping[str, Any], calls: list[dict[str, Any]]) -> Any:
    """All gates on a candidate that gets further than when it was made, because a rule has changed since. Adds the roles' calls to `calls`."""
    from evolake.families.population import load_family

    cycle = context.partition_key
    context.log.info(f"{row['name']} gets further than before; its evidence is collected now")
    with open_roles(lake, cycle, context.run_id) as agents, open_jail(lake) as pool:
        examined = judge(lake, pool, agents, ruleset, cycle, context.run_id)(load_family(row["record_sha"], lake.open().blobs), ())
        calls += agents.rows()
    return examined
