"""What the gates saw of a design, from what the lake holds of it: its source, its trace, and the reason of
what blocked it.

The few steps of the dynamics gate are taken again: they follow from the trace and the seed. What a file
without a trace might have been after the gate that stopped it is not known. What an objective's trial showed
is a blob that its verdicts name; of older trials nothing is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evolake import settings as settings_module
from evolake.designs.evolution.gate_specs import OBJECTIVE
from evolake.designs.evolution.judging import (
    TWIN,
    Attempt,
    collect_contract,
    collect_duplicate,
    collect_dynamics,
    collect_trace,
)
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.settings import DesignsSettings
from evolake.gate_spec import Evidence
from evolake.gates import read_reason
from evolake.gates.boundary import RAISED
from evolake.gates.stored import Find, StoredEvidence
from evolake.lake import Lake
from evolake.settings import Settings

LINE = "designs"
TABLES = (
    "raced",
    "seeds",
    "immigrant_designs",
    "merged_designs",
    "imported_designs",
    "candidates",
    "tuned_designs",
)
COLLECT = {
    "contract": collect_contract,
    "trace": collect_trace,
    "duplicate": collect_duplicate,
    "dynamics": collect_dynamics,
}


def find(lake: Lake, cycle: str | None) -> Find:
    """Of the designs and objectives of one cycle."""
    settings = settings_module.load()
    rows = {
        row["design_id"]: row for table in TABLES for row in _read(lake, table, cycle) if row["source_sha"]
    }

    def of_gate(artifact: str, gate: str, shas: Mapping[str, str]) -> Evidence | None:
        if gate == OBJECTIVE.name:
            return json.loads(lake.blobs.get(shas[gate])) if gate in shas else None
        row = rows.get(artifact)
        return (
            COLLECT[gate](_attempt(row, lake, settings)) if row is not None and _is_known(row, gate) else None
        )

    return of_gate


STORED = StoredEvidence(
    find=find,
    seconds=" UNION ALL ".join(
        f"SELECT '{asset}' AS asset, cycle, design_id AS artifact_id, cpu_s FROM designs.{table}"
        for asset, table in (
            ("experiments", "experiments"),
            ("promoted_experiments", "promoted_experiments"),
            ("survivors", "champion_trials"),
        )
    ),
    caution=(
        "a design that is blocked goes back to its designer when `candidates` is made again, so that "
        "another may come in its place"
    ),
)


def _attempt(row: Mapping[str, Any], lake: Lake, settings: Settings) -> Attempt:
    """Return the design as its gates saw it. row: of DESIGNS."""
    gate, _, reason = (row["reason"] or "").partition(": ")
    source = lake.blobs.get(row["source_sha"]).decode(errors="replace")
    twin = reason.removeprefix(TWIN) if gate == "duplicate" else None
    return Attempt(source, _found(row, gate, reason, lake), twin, settings.of(DesignsSettings), settings.seed)


def _found(
    row: Mapping[str, Any], gate: str, reason: str, lake: Lake
) -> TracedDesign | Blocked | dict[str, Any]:
    if row["traced_sha"]:
        return TracedDesign.from_json(json.loads(lake.blobs.get(row["traced_sha"])))
    if read_reason(reason):
        return {RAISED: reason}
    place, _, why = reason.partition(": ") if gate == "trace" else (gate, "", reason)
    return Blocked(why, place)


def _is_known(row: Mapping[str, Any], gate: str) -> bool:
    """Return whether what is stored is what this gate saw: who else computes the same is known of those that
    came so far."""
    stopped = (row["reason"] or "").partition(": ")[0]
    return gate in ("contract", "trace") or (bool(row["traced_sha"]) and stopped not in ("contract", "trace"))


def _read(lake: Lake, table: str, cycle: str | None) -> list[dict[str, Any]]:
    return lake.read(LINE, table, cycle).to_dicts() if lake.record(LINE, table, cycle) is not None else []
