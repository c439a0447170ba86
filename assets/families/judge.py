"""The gates of record: verdicts on stored evidence, so that a changed rule is judged anew without a run in the jail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import dagster as dg
import polars as pl

from assets.families.line import archive, judge, line, open_jail, rules
from assets.store import LineStore
from evolake.families.tables import FAMILIES, FURTHER, GATED, REVIEWS, VALIDATOR_VOTES, VOTES
from evolake.lake import AGENT_CALLS, VERDICTS, Lake, side_table
from resources.lake import LakeResource

GATES_OF = {"execution": ("execution",), "quality": ("static", "quality"), "consensus_labels": ("consensus",), "blind_reviews": ("blind",)}
"""Asset -> its gates, both in order."""


def judge_gates(context: dg.AssetExecutionContext, lake: LakeResource, asset: str, frame: pl.DataFrame) -> list[Any]:
    """Every candidate that met a gate of `asset` (evolake.families.evolution.stages.Staged). Publishes the verdicts as its side table."""
    from evolake.families.evolution.stages import judge_stage

    store = LineStore(line, context, lake)
    cycle, ruleset = store.cycle, store.rules()
    allowed = passed_before(store.lake, cycle, asset, frame)
    rows = rows_now(store.lake, cycle, frame, list(GATES_OF)[: list(GATES_OF).index(asset)])
    waiting = [row for row in rows if row["family_id"] in allowed]
    judgements: dict[tuple[str, str], Any] = {}
    with getting_further(store, ruleset, rows) as further:
        for gate in GATES_OF[asset]:
            met = [judge_stage(row, gate, ruleset, further, blobs=store.blobs, cycle=cycle, run_id=store.run_id) for row in waiting]
            judgements |= {(item.row["family_id"], item.gate): item for item in met}
            waiting = [item.row for item in met if item.passed]
    found = list(judgements.values())
    store.verdicts(verdict for item in found for verdict in item.verdicts)
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
    from evolake.families.evolution.stages import gates_of

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
    return GATED.frame(item.gated() for item in judge_gates(context, lake, "execution", candidates))


@line.asset(deps=[rules, "execution"], schema=GATED)
def quality(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 1: what can be seen on a sample and on the sources, and the quality reviewer."""
    return GATED.frame(item.gated() for item in judge_gates(context, lake, "quality", candidates))


@line.asset(deps=[rules, "execution", "quality"], schema=VOTES)
def consensus_labels(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 2a: the label of each sampled instance by strict majority of independent validators; an instance without one has none."""
    from evolake.families.evolution.records import vote_rows

    whole, single = [], []
    for item in judge_gates(context, lake, "consensus_labels", candidates):
        labels, votes = vote_rows(item.row["family_id"], context.partition_key, item.rows, item.passed)
        whole += labels
        single += votes
    LineStore(line, context, lake).extra(VALIDATOR_VOTES, single)
    return VOTES.frame(whole)


@line.asset(deps=[rules, "execution", "quality", "consensus_labels"], schema=REVIEWS)
def blind_reviews(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Gate 2b: reviewers who saw the text only, what they answered, and whether it is the label."""
    found = judge_gates(context, lake, "blind_reviews", candidates)
    return REVIEWS.frame(
        review | {"family_id": item.row["family_id"], "cycle": context.partition_key, "passed": item.passed} for item in found for review in item.rows
    )


@line.asset(deps=list(GATES_OF), schema=FAMILIES)
def accepted(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """The candidates that every gate of record has passed."""
    store = LineStore(line, context, lake)
    passed = passed_before(store.lake, store.cycle, "", candidates)
    rows = settled(store.lake, store.cycle, candidates, passed)
    store.artifacts(rows)
    if not passed:
        store.warn(f"no candidate of cycle {store.cycle} passed the gates; the families before it go on")
    context.add_output_metadata({"accepted": len(passed), "blocked": len(rows) - len(passed)})
    return FAMILIES.frame(row for row in rows if row["state"] == "accepted")


def settled(store: Lake, cycle: str, candidates: pl.DataFrame, passed: set[str]) -> list[dict[str, Any]]:
    """Rows of FAMILIES for all candidates, with state, gate and reason by the verdicts of record."""
    from evolake.families.evolution.stages import gates_of

    blocks = {said["family_id"]: said for said in gates_of(verdict_rows(store, cycle)) if not said["passed"]}
    rows = []
    for row in rows_now(store, cycle, candidates):
        block: Mapping[str, Any] = blocks.get(row["family_id"], {})
        state = "accepted" if row["family_id"] in passed else "blocked"
        rows.append({
            **{name: row[name] for name in FAMILIES.columns}, "state": state, "gate": block.get("gate"), "rule_id": block.get("rule_id"),
            "reason": block.get("reason"),
        })
    return rows


def rows_now(store: Lake, cycle: str, candidates: pl.DataFrame, assets: Sequence[str] = tuple(GATES_OF)) -> list[dict[str, Any]]:
    """Rows of CANDIDATES, those that got further at one of `assets` as they are now (see evolake.families.evolution.further)."""
    there = [asset for asset in assets if store.record(line.name, further_table(asset), cycle) is not None]  # lakes of before have none
    now = {row["family_id"]: row for asset in there for row in store.read(line.name, further_table(asset), cycle).to_dicts()}
    return [row | now[row["family_id"]] | {"gate": None} if row["family_id"] in now else row for row in candidates.to_dicts()]


def further_table(asset: str) -> str:
    """Where the candidates stand that got further at a gate of `asset`."""
    return f"{FURTHER.name}_{asset}"


@contextmanager
def getting_further(store: LineStore, ruleset: Any, rows: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    """Takes candidates of `rows` further, for `judge_stage`. Jail and roles open with the first that needs them. Publishes calls, and who went."""
    from evolake.families.evolution.further import Further

    opened: list[Any] = []
    with ExitStack() as stack:

        def examine(family: Any, known: Sequence[Any]) -> Any:
            store.context.log.info(f"{family.name} gets further than before; its evidence is collected now")
            if not opened:
                opened.extend((stack.enter_context(store.roles()), stack.enter_context(open_jail(store))))
            agents, pool = opened
            return judge(store, pool, agents, ruleset)(family, known)

        further = Further(lambda: archive(store).known(), rows, ruleset, store.blobs, examine)
        yield further
        if not opened:
            store.side(AGENT_CALLS, [])
    went = ({name: row[name] for name in FURTHER.columns} for row in further.renewed.values())
    store.extra(FURTHER, went, further_table(store.asset))
