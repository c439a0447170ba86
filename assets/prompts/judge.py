"""The gates of record: every child is judged by the rules in force, and only what passed enters the next
cycle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dagster as dg
import polars as pl

import assets.prompts.results  # noqa: F401  # pyright: ignore[reportUnusedImport]  (what is read is defined first)
from assets.prompts.line import archive, line, rules
from assets.store import LineStore
from evolake.lake import RULES, VERDICTS
from evolake.prompts.tables import GATED
from resources.lake import LakeResource


@line.asset(deps=[rules], schema=GATED)
def accepted(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    problems: pl.DataFrame,
    edits: pl.DataFrame,
    children: pl.DataFrame,
) -> pl.DataFrame:
    """Which children passed: lineage replayed from its edits, size, that they are new, and no problem in
    them."""
    from evolake.prompts.evolution.judging import Newborn, evidence_bytes, run_gates

    store = LineStore(line, context, lake)
    cycle, ruleset, before = store.cycle, store.rules(), archive(store)
    population = replace(before, prompts=pl.concat([before.prompts, children]))
    rows: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for child in children.to_dicts():
        judged = run_gates(
            Newborn(child, population, edits.to_dicts(), problems.to_dicts()),
            ruleset,
            cycle=cycle,
            run_id=store.run_id,
        )
        evidence = store.blobs.put(evidence_bytes(judged.seen))
        objection = judged.blocked_by
        rows.append(
            {
                "prompt_id": child["prompt_id"],
                "cycle": cycle,
                "passed": judged.accepted,
                "gate": objection.gate if objection else None,
                "rule_id": objection.rule_id if objection else None,
                "reason": objection.reason if objection else None,
                "evidence_sha": evidence,
            }
        )
        verdicts += [verdict.row() | {"evidence_sha": evidence} for verdict in judged.verdicts]
    store.side(VERDICTS, verdicts)
    store.side(RULES, ruleset.rows())
    passed = sum(row["passed"] for row in rows)
    context.add_output_metadata(
        {"passed": passed, "blocked": len(rows) - passed, "evidence": f"0 reused, {len(rows)} made"}
    )
    return GATED.frame(rows)
