"""What the rules of each gate judge, as JSON, and how it is stored."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evolake.gates import Ruleset
from evolake.gates.stored import StoredEvidence, in_rows
from evolake.lake import Lake
from evolake.lake.blobs import BlobStore
from evolake.lake.schemas import INCOMING
from evolake.solvers.gates.carry import carry_evidence, is_carried
from evolake.solvers.gates.context import GateContext
from evolake.solvers.repository.build import BuildResult
from evolake.solvers.rules.learned import with_learned
from evolake.solvers.rules.outcomes import GROWING
from evolake.solvers.suites.fresh import CARRIED

ESSENCE = (
    "instance",
    "family",
    "expected",
    "shuffle",
    "repeat",
    "status",
    "answer",
    "certificate",
    "proof_status",
    "problems",
    "conflicts",
    "decisions",
    "propagations",
    "memory_mb",
    "timeout_s",
)


def build_evidence(build: BuildResult) -> dict[str, Any]:
    """Return what the rules of the build gate judge."""
    values = asdict(build)
    return {
        "build": {
            name: values[name] for name in ("ok", "kind", "program", "log_sha", "warnings", "reason", "cpu_s")
        }
    }


def runs_evidence(
    rows: Sequence[Mapping[str, Any]], base_rows: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return what the rules of gates 2 to 4 judge: of each row what says how it ended, and memory in whole MB
    over a growing formula.

    Times stay out, so that two runs that end alike are one piece of evidence.
    """
    return {"runs": [_essence(row) for row in rows], "base_runs": [_essence(row) for row in base_rows]}


def gate_evidence(gate: str, rows: Sequence[Mapping[str, Any]], context: GateContext) -> dict[str, Any]:
    """Return what the rules of one of gates 2 to 4 judge: `runs_evidence`; at the stability gate next to that
    of the base, and with `carry_evidence` of the rows that are for it."""
    if gate != "stability":
        return runs_evidence(rows)
    others = runs_evidence([row for row in rows if not is_carried(row)], context.base_stability())
    return others | {
        CARRIED: carry_evidence([row for row in rows if is_carried(row)]),
        "base_carried": context.base_carried(),
    }


def _essence(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row.get(name) for name in ESSENCE}
    if "answer" not in row:  # a row of DUELS
        kept["answer"] = {"sat": "SAT", "unsat": "UNSAT"}.get(row["status"])
    # a killed run's proof is cut anywhere
    kept["proof_bytes"] = row.get("proof_bytes") if kept["answer"] else None
    return kept | ({"peak_mb": math.ceil(row["peak_mb"])} if kept["family"] == GROWING else {})


def store_evidence(evidence: Mapping[str, Any], blobs: BlobStore) -> str:
    """Return the sha of the evidence as a blob of JSON; equal evidence has one sha."""
    return blobs.put(json.dumps(evidence, sort_keys=True, default=str).encode())


def load_evidence(sha: str, blobs: BlobStore) -> dict[str, Any]:
    """Return evidence as it was stored."""
    return json.loads(blobs.get(sha))


def rules_in_force(lake: Lake, cycle: str | None, ruleset: Ruleset) -> Ruleset:
    """Return the rules of a cycle: those of the files, and those that the line learned in earlier cycles."""
    table = f"{INCOMING}rule_proposals"
    learned = (
        lake.read("solvers", table, cycle).to_dicts()
        if cycle and lake.record("solvers", table, cycle)
        else []
    )
    return with_learned(ruleset, learned) if learned else ruleset


STORED = StoredEvidence(
    find=in_rows(
        ("seeds", "variants", "immigrant_variants"), "variant_id", lambda blob, _gate: blob, "solvers"
    ),
    rules=rules_in_force,
    seconds=" UNION ALL ".join(
        f"SELECT '{asset}' AS asset, cycle, variant_id AS artifact_id, cpu_s FROM solvers.{table}"
        for asset, table in (
            ("variants", "gate_runs"),
            ("benchmark_runs", "benchmark_runs"),
            ("champion", "champion_trials"),
            ("holdout_runs", "holdout_runs"),
        )
    ),
)
"""Where the evidence of variants is stored, which rules judged them, and what each took."""
