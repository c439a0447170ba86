"""The gates of record, one asset per gate or two: each judges by the rules in force, on evidence that is
stored or, if there is none, made now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from assets.gates import GatesOfRecord, Table
from assets.solvers.line import archive, line, open_workspace, rules, rules_in_force
from assets.store import LineStore
from evolake.lake import VERDICTS
from evolake.solvers.gates.specs import GATES
from evolake.solvers.tables import BINARIES, CORRECTNESS_RUNS, GATED, RUNS, SMOKE_RUNS, STABILITY_RUNS

if TYPE_CHECKING:
    from evolake.solvers.evolution.workspace import VariantGateResult

NOT_BUILT = {"program": None, "log_sha": "", "warnings": 0, "cpu_s": 0.0}
"""Of a variant whose build could not be judged."""
JAILED = frozenset({"bubblewrap"})
of_record = GatesOfRecord(line, GATES, key="variant_id", shown="title")


def replayed(store: LineStore, frame: pl.DataFrame) -> Sequence[VariantGateResult]:
    """Return every variant that met a gate of the store's asset."""
    from evolake.solvers.evolution.workspace import parents_edits, replay_gate

    population = archive(store)
    workspace, ruleset = open_workspace(store, population), rules_in_force(store, population)
    by_id, allowed = (
        {row["variant_id"]: row for row in population.rows()},
        of_record.passed(store, frame, store.asset),
    )
    return of_record.replay(
        store,
        [row for row in frame.to_dicts() if row["variant_id"] in allowed],
        ruleset,
        lambda row, gate: replay_gate(
            workspace,
            gate,
            row,
            ruleset,
            cycle=store.cycle,
            run_id=store.run_id,
            parent_edits=parents_edits(row, by_id),
        ),
    )


def gated_rows(store: LineStore, results: Sequence[VariantGateResult]) -> list[dict[str, Any]]:
    """Return rows of GATED."""
    return [result.gated() for result in results]


def binary_rows(store: LineStore, results: Sequence[VariantGateResult]) -> list[dict[str, Any]]:
    """Return rows of BINARIES."""
    rows: list[dict[str, Any]] = []
    for result in results:
        built = result.evidence.get("build") or NOT_BUILT | {"reason": result.verdicts[-1].reason}
        rows.append(
            {
                "variant_id": result.row["variant_id"],
                "cycle": store.cycle,
                "passed": result.passed,
                "program_sha": built["program"],
                "log_sha": built["log_sha"],
                "warnings": built["warnings"],
                "cpu_s": built["cpu_s"],
                "reason": built["reason"] or None,
                "flags": [line for line in result.evidence.get("flags") or () if not line.startswith("/")]
                or None,
            }
        )
    return rows


def smoke_rows(store: LineStore, results: Sequence[VariantGateResult]) -> list[dict[str, Any]]:
    """Return rows of SMOKE_RUNS."""
    return run_rows(store, "smoke", results)


def correctness_rows(store: LineStore, results: Sequence[VariantGateResult]) -> list[dict[str, Any]]:
    """Return rows of CORRECTNESS_RUNS. Publishes those of the gate `stability`, which is done next to it."""
    store.extra(STABILITY_RUNS, run_rows(store, "stability", results), "stability_runs")
    return run_rows(store, "correctness", results)


def run_rows(store: LineStore, gate: str, results: Sequence[VariantGateResult]) -> list[dict[str, Any]]:
    """Return the runs behind the verdicts of one gate: those made just now, or those that were made with the
    variant."""
    earlier = store.read("gate_runs").filter(pl.col("gate") == gate).drop("gate").to_dicts()
    rows: list[dict[str, Any]] = []
    for result in results:
        if result.gate == gate:
            made = (
                [run for run in earlier if run["variant_id"] == result.row["variant_id"]]
                if result.runs is None
                else result.runs
            )
            rows += [{name: run[name] for name in RUNS.columns} for run in made]
    return rows


gates = of_record.define(
    replayed,
    {
        "compliance": Table(GATED, gated_rows, frozenset({"treesitter"})),
        "binaries": Table(BINARIES, binary_rows, JAILED | {"cplusplus"}),
        "smoke": Table(SMOKE_RUNS, smoke_rows, JAILED),
        "correctness": Table(CORRECTNESS_RUNS, correctness_rows, JAILED),
    },
    Table(GATED, gated_rows),
    "variants",
    rules,
)


def late_verdicts(store: LineStore, *assets: str) -> list[dict[str, Any]]:
    """Return verdicts on what ran in `assets`."""
    return [row for asset in assets for row in store.rows(asset, VERDICTS)]


def publish_late(store: LineStore, verdicts: Sequence[Any]) -> None:
    """Publish the verdicts on what ran in this asset, and say whom they block."""
    for verdict in verdicts:
        if verdict.outcome != "pass":
            store.warn(
                f"{verdict.artifact_id[:12]} is blocked permanently ({verdict.gate}): {verdict.reason}"
            )
    store.verdicts(verdicts)
