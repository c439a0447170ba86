"""From candidates to rows: designs, artifacts, derivations, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assets.store import LineStore
from evolake.designs.tables import ARRIVALS, DESIGNS
from evolake.lake import ARTIFACTS, VERDICTS, side_table

if TYPE_CHECKING:
    from evolake.designs.evolution.importing import Arrived
    from evolake.designs.evolution.merge import Admitted
    from evolake.designs.evolution.proposals import Judged


def record_candidates(
    store: LineStore, candidates: Sequence[Judged], *, tuned: bool = False, also_judged: Sequence[Judged] = ()
) -> list[dict[str, Any]]:
    """Return rows of DESIGNS. Stores sources and graphs as blobs and publishes the asset's rows of the shared
    tables.

    also_judged: what has verdicts and becomes no design, such as most of what raced; candidates that are
    among them count once.
    """
    from evolake.designs.evolution.proposals import derivation_rows

    rows = candidate_rows(store, candidates, tuned=tuned)
    store.artifacts(rows)
    store.derivations(row for candidate in candidates for row in derivation_rows(candidate, store.cycle))
    judged = {candidate.design_id: candidate for candidate in (*candidates, *also_judged)}
    store.verdicts(verdict for candidate in judged.values() for verdict in candidate.examined.verdicts)
    return rows


def candidate_rows(
    store: LineStore, candidates: Sequence[Judged], *, tuned: bool = False
) -> list[dict[str, Any]]:
    """Return rows of DESIGNS. Stores sources and graphs as blobs."""
    from evolake.designs.evolution.proposals import design_row, store_candidate

    return [
        design_row(candidate, store.cycle, *store_candidate(store.blobs, candidate), tuned=tuned)
        for candidate in candidates
    ]


def record_admitted(store: LineStore, admitted: Admitted) -> None:
    """Publish what a merge brought in: the designs as their own table, and their rows of the shared tables
    (often none)."""
    store.extra(DESIGNS, admitted.designs, "merged_designs")
    store.artifacts(admitted.designs)
    store.derivations(admitted.derivations)
    store.verdicts(admitted.verdicts)


def record_arrived(store: LineStore, arrived: Arrived) -> None:
    """Publish what an import brought in, as separate tables, in the cycle that takes it in."""
    name = "imported_designs"
    if not arrived.bundles and not store.has(name):
        return
    store.extra(DESIGNS, arrived.designs, name)
    store.extra(ARRIVALS, arrived.notes)
    store.artifacts(arrived.designs, name=side_table(name, ARTIFACTS))
    store.extra(VERDICTS, (verdict.row() for verdict in arrived.verdicts), side_table(name, VERDICTS))


def arrived_bundles(store: LineStore) -> list[str]:
    """Return ids of the imported bundles that the opening of this cycle took in."""
    return sorted({row["bundle_id"] for row in store.rows(ARRIVALS.name)}) if store.has(ARRIVALS.name) else []
