"""What the study says of its artifacts, and its row in the table of all lines."""

from __future__ import annotations

from evolake.repair.report.standing import standing
from evolake.report.artifacts import LineArtifacts

ARTIFACTS = LineArtifacts(
    standing=standing,
    crowns_none="it is a study that compares arms: `evolake repair report --out DIR` says which arm repairs more",  # noqa: E501
)
