"""What the study says of its artifacts, and its row in the table of all lines."""

from __future__ import annotations

from evolake.report.artifacts import LineArtifacts
from evolake.utility.report.standing import standing

ARTIFACTS = LineArtifacts(
    standing=standing,
    crowns_none=(
        "it is a study that compares arms: `evolake families utility --out DIR` says what training on "
        "each is worth"
    ),
)
