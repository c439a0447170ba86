"""The gates of record: every candidate by the rules in force, on the evidence that its evaluation left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

import assets.programs.evolve  # noqa: F401  # pyright: ignore[reportUnusedImport]  (what is read is defined first)
from assets.programs.evolve import entries_of
from assets.programs.line import line, rules
from assets.store import LineStore
from evolake.lake import RULES, VERDICTS
from evolake.programs.tables import GATED
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.gates import GateResult


@line.asset(deps=[rules], schema=GATED)
def accepted(
    context: dg.AssetExecutionContext, lake: LakeResource, generations: pl.DataFrame, candidates: pl.DataFrame
) -> pl.DataFrame:
    """Which programs passed every gate. Nothing is run again: rules judge the evidence that is stored."""
    import evolake.programs.gates.checkers  # noqa: F401  # pyright: ignore[reportUnusedImport]  (it registers the checkers)
    from evolake.gates import replay_gate
    from evolake.programs.gates.specs import GATES

    store = LineStore(line, context, lake)
    ruleset = store.rules()
    seen: dict[str, dict[str, str]] = {}
    for entry in entries_of(store, generations):
        for verdict in entry.verdicts:
            seen.setdefault(verdict["artifact_id"], {})[verdict["gate"]] = verdict["evidence_sha"]
    rows: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for candidate in candidates.to_dicts():
        shas = seen.get(candidate["program_id"], {})
        results: list[GateResult] = []
        for gate in GATES:
            if gate.name not in shas:
                break
            evidence = json.loads(store.blobs.get(shas[gate.name]))
            results.append(
                replay_gate(
                    gate,
                    evidence,
                    ruleset,
                    artifact_id=candidate["program_id"],
                    cycle=store.cycle,
                    run_id=store.run_id,
                    evidence_sha=shas[gate.name],
                )
            )
            if not results[-1].passed:
                break
        objection = next((verdict for result in results if (verdict := result.blocked_by)), None)
        rows.append(
            {
                "program_id": candidate["program_id"],
                "cycle": store.cycle,
                "project": candidate["project"],
                "passed": objection is None and len(results) == len(GATES),
                "gate": objection.gate if objection else None,
                "rule_id": objection.rule_id if objection else None,
                "reason": objection.reason if objection else None,
                "evidence_sha": objection.evidence_sha if objection else None,
            }
        )
        verdicts += [verdict.row() for result in results for verdict in result.verdicts]
    store.side(VERDICTS, verdicts)
    store.side(RULES, ruleset.rows())
    passed = sum(row["passed"] for row in rows)
    context.add_output_metadata(
        {
            "passed": passed,
            "blocked": len(rows) - passed,
            "evidence": f"{len(verdicts)} verdicts on stored evidence",
        }
    )
    return GATED.frame(rows)
