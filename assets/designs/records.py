"""From candidates to rows: designs, artifacts, derivations, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from assets.designs.line import line, publish_extra, publish_side
from evolake import __version__
from evolake.designs.tables import DESIGNS
from evolake.lake import ARTIFACTS, DERIVATIONS, VERDICTS, Lake


def record_candidates(
    lake: Lake, asset: str, candidates: Sequence[Any], *, cycle: str, part: str | None, run_id: str, tuned: bool = False
) -> list[dict[str, Any]]:
    """Store sources and graphs as blobs, publish the side tables of `asset`, give the rows of DESIGNS.

    Args:
        cycle: the cycle that the rows name. part: the partition they are published in; None for an unpartitioned asset.
    """
    from evolake.designs.evolution.proposals import derivation_rows, design_row, store_candidate

    rows = []
    for candidate in candidates:
        source_sha, traced_sha = store_candidate(lake.blobs, candidate)
        rows.append(design_row(candidate, cycle, source_sha, traced_sha, tuned=tuned))
    derived = [row for candidate in candidates for row in derivation_rows(candidate, cycle)]
    verdicts = [verdict.row() for candidate in candidates for verdict in candidate.examined.verdicts]
    publish_side(lake, asset, ARTIFACTS, design_artifacts(rows, run_id), cycle=part, run_id=run_id)
    publish_side(lake, asset, DERIVATIONS, derived, cycle=part, run_id=run_id)
    publish_side(lake, asset, VERDICTS, verdicts, cycle=part, run_id=run_id)
    return rows


def record_admitted(context: dg.AssetExecutionContext, lake: Lake, admitted: Any) -> None:
    """Publish what a merge brought in: the designs as a table of their own, and their rows of the shared tables (often none)."""
    cycle, run_id = context.partition_key, context.run_id
    publish_extra(lake, "merged_designs", DESIGNS, admitted.designs, context=context)
    publish_side(lake, "directions", ARTIFACTS, design_artifacts(admitted.designs, run_id), cycle=cycle, run_id=run_id)
    publish_side(lake, "directions", DERIVATIONS, admitted.derivations, cycle=cycle, run_id=run_id)
    publish_side(lake, "directions", VERDICTS, [verdict.row() for verdict in admitted.verdicts], cycle=cycle, run_id=run_id)


def design_artifacts(rows: Iterable[dict[str, Any]], run_id: str) -> list[dict[str, Any]]:
    """Rows of ARTIFACTS for rows of DESIGNS."""
    return [artifact(row["design_id"], "design", row["cycle"], row["state"], row["source_sha"], row["title"], run_id) for row in rows]


def artifact(artifact_id: str, kind: str, cycle: str, state: str, content_sha: str | None, title: str, run_id: str) -> dict[str, Any]:
    """One row of ARTIFACTS."""
    return {
        "artifact_id": artifact_id, "line": line.name, "kind": kind, "cycle": cycle, "state": state, "content_sha": content_sha, "title": title,
        "created_at": datetime.now(UTC), "run_id": run_id, "code_version": __version__,
    }
