"""What the families line says of its artifacts."""

from __future__ import annotations

from evolake.families.report.data import MADE
from evolake.lake import Catalogue
from evolake.report.artifacts import LineArtifacts


def outcome(catalogue: Catalogue, cycle: str) -> str:
    """Accepted families and instances with voted labels, of this cycle and so far."""
    made = catalogue.frame(MADE, {"cycle": cycle}).to_dicts()
    now = next((row for row in made if row["cycle"] == cycle), {"accepted": 0, "attempts": 0, "instances": 0})
    families, instances = (sum(row[column] for row in made) for column in ("accepted", "instances"))
    return (
        f"{now['accepted']} of {now['attempts']} proposed families accepted, with {now['instances']:,} instances; "
        f"evolved so far: {families} families, {instances:,} instances"
    )


ARTIFACTS = LineArtifacts(
    crowns_none="every accepted family lives on: see `evolake families gallery --evolved --out DIR`; `evolake families export` writes their data",
    outcome=outcome,
)
