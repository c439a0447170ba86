"""What the study says of its artifacts."""

from __future__ import annotations

from evolake.report.artifacts import LineArtifacts

ARTIFACTS = LineArtifacts(crowns_none="it is a study that compares arms: `evolake families utility --out DIR` says what training on each is worth")
