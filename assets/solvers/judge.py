"""The gates of record, one asset per gate: verdicts on stored evidence, so that a changed rule is judged anew without a build or a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg
import polars as pl

from assets.solvers.line import archive, line, open_workspace, rules, rules_in_force
from assets.store import LineStore
from evolake.lake import VERDICTS, Lake, side_table
from evolake.solvers.tables import BINARIES, CORRECTNESS_RUNS, GATED, RUNS, SMOKE_RUNS, STABILITY_RUNS
from resources.lake import LakeResource

NOT_BUILT = {"program": None, "log_sha": "", "warnings": 0, "cpu_s": 0.0}
"""Of a variant whose build could not be judged."""
PROVING = ("compliance", "binaries", "smoke", "correctness")
"""The assets whose verdicts a variant needs, in order."""


def judge_gates(
    context: dg.AssetExecutionContext, lake: LakeResource, asset: str, gates: Sequence[str], frame: pl.DataFrame
) -> dict[str, list[Any]]:
    """gate -> every variant that met it (evolake.solvers.evolution.stages.Staged). Publishes the verdicts as side table of `asset`."""
    from evolake.solvers.evolution.stages import judge_stage, parents_edits

    store = LineStore(line, context, lake)
    cycle, run_id, population = store.cycle, store.run_id, archive(store)
    workspace, ruleset = open_workspace(store, population), rules_in_force(store, population)
    by_id = {row["variant_id"]: row for row in population.rows()}
    allowed = passed_before(store.lake, cycle, asset, frame)
    waiting = [row for row in frame.to_dicts() if row["variant_id"] in allowed]
    found: dict[str, list[Any]] = {gate: [] for gate in gates}
    for gate in gates:
        found[gate] = [
            judge_stage(workspace, gate, row, ruleset, cycle=cycle, run_id=run_id, parent_edits=parents_edits(row, by_id)) for row in waiting
        ]
        for item in found[gate]:
            if not item.passed:
                context.log.info(f"{item.row['title']} ({item.row['variant_id'][:12]}) blocked at {gate}: {item.verdicts[-1].reason}")
        waiting = [item.row for item in found[gate] if item.passed]
    store.verdicts(verdict for gate in gates for item in found[gate] for verdict in item.verdicts)
    met = len(found[gates[0]])
    context.add_output_metadata({"judged": met, "passed": len(waiting), "blocked": met - len(waiting), "ruleset": ruleset.hash})
    return found


def passed_before(store: Lake, cycle: str, asset: str, frame: pl.DataFrame) -> set[str]:
    """Variants of `frame` that every gate before those of `asset` has passed, by the verdicts of record."""
    ids = set(frame["variant_id"].to_list())
    for before in PROVING[: PROVING.index(asset) if asset in PROVING else len(PROVING)]:
        verdicts = store.read(line.name, side_table(before, VERDICTS), cycle)
        met, objected = set(verdicts["artifact_id"].to_list()), verdicts.filter(pl.col("outcome") != "pass")
        ids &= met - set(objected["artifact_id"].to_list())
    return ids


def late_verdicts(store: LineStore, *assets: str) -> list[dict[str, Any]]:
    """Verdicts on what ran in `assets`; none where an asset is of a time before there were any."""
    return [row for asset in assets if store.has(asset, VERDICTS) for row in store.rows(asset, VERDICTS)]


def publish_late(store: LineStore, verdicts: Sequence[Any]) -> None:
    """Publish the verdicts on what ran in this asset, and say whom they block."""
    for verdict in verdicts:
        if verdict.outcome != "pass":
            store.warn(f"{verdict.artifact_id[:12]} is blocked for good ({verdict.gate}): {verdict.reason}")
    store.verdicts(verdicts)


def accepted_ids(store: Lake, cycle: str, frame: pl.DataFrame) -> list[str]:
    """Variants of `frame` that every gate has passed, in their order."""
    passed = passed_before(store, cycle, "", frame)
    return [variant_id for variant_id in frame["variant_id"].to_list() if variant_id in passed]


@line.asset(deps=[rules], schema=GATED, kinds={"treesitter"})
def compliance(context: dg.AssetExecutionContext, lake: LakeResource, variants: pl.DataFrame) -> pl.DataFrame:
    """Gate 0: layout, documents, and what the sources add to those of their seed, by rules over the syntax tree."""
    rows: list[dict[str, Any]] = []
    for item in judge_gates(context, lake, "compliance", ("compliance",), variants)["compliance"]:
        last = item.verdicts[-1]
        rows.append({
            "variant_id": item.row["variant_id"], "cycle": context.partition_key, "gate": "compliance", "passed": item.passed,
            "rule_id": None if item.passed else last.rule_id, "reason": last.reason or None, "evidence_sha": last.evidence_sha,
        })
    return GATED.frame(rows)


@line.asset(deps=[rules, "compliance"], schema=BINARIES, kinds={"cplusplus", "bubblewrap"})
def binaries(context: dg.AssetExecutionContext, lake: LakeResource, variants: pl.DataFrame) -> pl.DataFrame:
    """Gate 1: a clean build in the jail. The executable and the log lie in the blob store."""
    rows: list[dict[str, Any]] = []
    for item in judge_gates(context, lake, "binaries", ("build",), variants)["build"]:
        built = item.evidence.get("build") or NOT_BUILT | {"reason": item.verdicts[-1].reason}
        rows.append({
            "variant_id": item.row["variant_id"], "cycle": context.partition_key, "passed": item.passed, "program_sha": built["program"],
            "log_sha": built["log_sha"], "warnings": built["warnings"], "cpu_s": built["cpu_s"], "reason": built["reason"] or None,
        })
    return BINARIES.frame(rows)


@line.asset(deps=[rules, "compliance", "binaries"], schema=SMOKE_RUNS, kinds={"bubblewrap"})
def smoke(context: dg.AssetExecutionContext, lake: LakeResource, variants: pl.DataFrame) -> pl.DataFrame:
    """Gate 2: small formulas with known answers, as they are, renamed and shuffled."""
    found = judge_gates(context, lake, "smoke", ("smoke",), variants)
    return SMOKE_RUNS.frame(_runs(lake, context.partition_key, "smoke", found))


@line.asset(deps=[rules, "compliance", "binaries", "smoke"], schema=CORRECTNESS_RUNS, kinds={"bubblewrap"})
def correctness(context: dg.AssetExecutionContext, lake: LakeResource, variants: pl.DataFrame) -> pl.DataFrame:
    """Gates 3 and 4: every model evaluated, every proof verified by an external checker; then two runs that count alike, and memory that holds."""
    found = judge_gates(context, lake, "correctness", ("correctness", "stability"), variants)
    LineStore(line, context, lake).extra(STABILITY_RUNS, _runs(lake, context.partition_key, "stability", found), "stability_runs")
    return CORRECTNESS_RUNS.frame(_runs(lake, context.partition_key, "correctness", found))


def _runs(lake: LakeResource, cycle: str, gate: str, found: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The runs behind the verdicts: those made just now, or those that were made with the variant."""
    earlier = lake.open().read(line.name, "gate_runs", cycle).filter(pl.col("gate") == gate).drop("gate").to_dicts()
    rows: list[dict[str, Any]] = []
    for item in found[gate]:
        made = [run for run in earlier if run["variant_id"] == item.row["variant_id"]] if item.runs is None else item.runs
        rows += [{name: run[name] for name in RUNS.columns} for run in made]
    return rows
