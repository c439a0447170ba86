"""The gates of record: each asset judges by the rules in force, on evidence that is stored or, if there is
none, made now."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.families.line import archive, judge, line, open_jail, rules
from assets.gates import GatesOfRecord, Table
from assets.shown import note
from assets.store import LineStore
from evolake.families.gates.specs import GATES
from evolake.families.tables import (
    ACCEPTED,
    FAMILIES,
    FURTHER,
    GATED,
    REVIEWS,
    RULE_BITES,
    VALIDATOR_VOTES,
    VOTES,
    further_table,
)
from evolake.lake import AGENT_CALLS, Lake
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.families.evolution.stages import FamilyGateResult

of_record = GatesOfRecord(line, GATES, key="family_id", shown="name")


def replayed(store: LineStore, frame: pl.DataFrame) -> Sequence[FamilyGateResult]:
    """Return every candidate that met a gate of the store's asset."""
    from evolake.families.evolution.stages import replay_gate

    ruleset, allowed = store.rules(), of_record.passed(store, frame, store.asset)
    rows = rows_now(store.lake, store.cycle, frame, of_record.assets[: of_record.assets.index(store.asset)])
    with getting_further(store, ruleset, rows) as further:
        return of_record.replay(
            store,
            [row for row in rows if row["family_id"] in allowed],
            ruleset,
            lambda row, gate: replay_gate(
                row, gate.name, ruleset, further, blobs=store.blobs, cycle=store.cycle, run_id=store.run_id
            ),
        )


def gated_rows(store: LineStore, results: Sequence[FamilyGateResult]) -> list[dict[str, Any]]:
    """Return rows of GATED."""
    return [result.gated() for result in results]


def quality_rows(store: LineStore, results: Sequence[FamilyGateResult]) -> list[dict[str, Any]]:
    """Return rows of GATED. Publishes how many answers are others without each rule."""
    from evolake.families.evolution.records import bite_rows

    store.extra(
        RULE_BITES,
        [
            row
            for result in results
            for row in bite_rows(result.row["family_id"], store.cycle, result.evidence.get("bites", ()))
        ],
    )
    return gated_rows(store, results)


def label_rows(store: LineStore, results: Sequence[FamilyGateResult]) -> list[dict[str, Any]]:
    """Return rows of VOTES. Publishes what each validator said."""
    from evolake.families.evolution.records import vote_rows

    whole: list[dict[str, Any]] = []
    single: list[dict[str, Any]] = []
    for result in results:
        labels, votes = vote_rows(result.row["family_id"], store.cycle, result.rows, result.passed)
        whole += labels
        single += votes
    store.extra(VALIDATOR_VOTES, single)
    return whole


def review_rows(store: LineStore, results: Sequence[FamilyGateResult]) -> list[dict[str, Any]]:
    """Return rows of REVIEWS."""
    return [
        {**review, "family_id": result.row["family_id"], "cycle": store.cycle, "passed": result.passed}
        for result in results
        for review in result.rows
    ]


gates = of_record.define(
    replayed,
    {
        "quality": Table(GATED, quality_rows),
        "consensus_labels": Table(VOTES, label_rows),
        "blind_reviews": Table(REVIEWS, review_rows),
    },
    Table(GATED, gated_rows),
    "candidates",
    rules,
)


@line.asset(deps=of_record.assets, schema=ACCEPTED)
def accepted(context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame) -> pl.DataFrame:
    """Collect the candidates that every gate of record has passed."""
    store = LineStore(line, context, lake)
    passed = of_record.passed(store, candidates)
    rows = judged_families(store, candidates, passed)
    store.artifacts(rows)
    if not passed:
        store.warn(f"no candidate of cycle {store.cycle} passed the gates; the earlier families stay")
    context.add_output_metadata({"accepted": len(passed), "blocked": len(rows) - len(passed)})
    independent = {row["family_id"]: row["independent"] for row in candidates.to_dicts()}
    return ACCEPTED.frame(
        row | {"independent": independent[row["family_id"]]} for row in rows if row["state"] == "accepted"
    )


def judged_families(store: LineStore, candidates: pl.DataFrame, passed: set[str]) -> list[dict[str, Any]]:
    """Return rows of FAMILIES for all candidates, with state, gate and reason by the verdicts of record."""
    from evolake.families.evolution.stages import gates_of

    blocks = {said["family_id"]: said for said in gates_of(of_record.verdicts(store)) if not said["passed"]}
    rows: list[dict[str, Any]] = []
    for row in rows_now(store.lake, store.cycle, candidates):
        block: Mapping[str, Any] = blocks.get(row["family_id"], {})
        state = "accepted" if row["family_id"] in passed else "blocked"
        rows.append(
            {
                **{name: row[name] for name in FAMILIES.columns},
                "state": state,
                "gate": block.get("gate"),
                "rule_id": block.get("rule_id"),
                "reason": block.get("reason"),
            }
        )
    return rows


def rows_now(
    store: Lake, cycle: str, candidates: pl.DataFrame, assets: Sequence[str] = of_record.assets
) -> list[dict[str, Any]]:
    """Return rows of CANDIDATES, those that got further at one of `assets` as they are now (see
    evolake.families.evolution.stages)."""
    now = {
        row["family_id"]: row
        for asset in assets
        for row in store.read(line.name, further_table(asset), cycle).to_dicts()
    }
    return [
        row | now[row["family_id"]] | {"gate": None} if row["family_id"] in now else row
        for row in candidates.to_dicts()
    ]


@contextmanager
def getting_further(store: LineStore, ruleset: Any, rows: Sequence[Mapping[str, Any]]) -> Generator[Any]:
    """Take candidates of `rows` further, for `replay_gate`. Jail and roles open with the first that needs
    them. Publishes calls, and who went."""
    from evolake.families.evolution.stages import Further

    opened: list[Any] = []
    with ExitStack() as stack:

        def examine(family: Any, known: Sequence[Any]) -> Any:
            note(store.context, f"{family.name} gets further than before; its evidence is collected now")
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
