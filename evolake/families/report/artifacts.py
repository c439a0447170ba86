"""What the families line says of its artifacts."""

from __future__ import annotations

from evolake.report.artifacts import LineArtifacts

ARTIFACTS = LineArtifacts(
    crowns_none="every accepted family lives on: see `evolake families gallery --evolved --out DIR`; `evolake families export` writes their data",
)
