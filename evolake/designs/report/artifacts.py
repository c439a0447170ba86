"""What the designs line says of its artifacts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evolake.contest import LEVEL
from evolake.designs.report.standing import standing
from evolake.lake import Lake
from evolake.report.artifacts import LineArtifacts
from evolake.report.gain import Gain
from evolake.report.kinds import Artifact, Kind, blob_text, column_text
from evolake.report.numbers import counted
from evolake.stats import Interval

LINE = "designs"


def gain_of(lake: Lake, artifact_id: str, cycle: str, _since: str) -> Gain | None:
    """Against the baseline, on the fresh seeds of the cycle; None for the baseline itself."""
    for row in lake.read(LINE, "champion_decisions", cycle).to_dicts():
        if (
            row["comparison"] == "baseline"
            and row["challenger_id"] == artifact_id
            and row["ratio"] is not None
        ):
            return gain_of_decision(row)
    return None


def gain_of_decision(row: Mapping[str, Any]) -> Gain:
    """Return the gain that a row of DECISIONS states."""
    return Gain(
        Interval(row["ratio"], row["ratio_low"], row["ratio_high"], LEVEL),
        "less median work",
        row["incumbent_id"],
        f"at N={row['N']} on {row['pairs']} fresh seeds of {row['batch']} instances each, profile "
        f"{row['profile']}",
        row["cycle"],
        row["wins"],
        count=counted(row["pairs"], "seed"),
        bound=row["bound"],
    )


def design_text(lake: Lake, artifact: Artifact) -> str:
    """Return the design's file. Values that its row has in place of the file's own (a tuned copy) are set at
    its end, so that it computes the same."""
    changed = json.loads(artifact.row.get("hyper") or "{}")
    lines = [f'HYPER_SPACE[{name!r}]["default"] = {value!r}' for name, value in sorted(changed.items())]
    return blob_text(lake, artifact) + (
        "\n\n# The values that evolution found.\n" + "\n".join(lines) + "\n" if lines else ""
    )


def write_design(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """design.py."""
    (folder / "design.py").write_text(design_text(lake, artifact), encoding="utf-8")
    return "evolake designs check design.py && evolake designs solve design.py --n 100 --instances 100"


ARTIFACTS = LineArtifacts(
    gain=gain_of,
    standing=standing,
    score="consensus, lower is better",
    kinds={
        "design": Kind(
            "design_id",
            ("incoming_designs", "candidates", "seeds"),
            (
                "origin",
                "operator",
                "idea",
                "rationale",
                "key_insight",
                "success_level",
                "tuned",
                "hyper",
                "reason",
            ),
            ("final_ranking",),
            text=design_text,
            write=write_design,
            changed=lambda row, _: str(row["rationale"] or ""),
        ),
        "objective": Kind(
            "objective_id",
            ("incoming_objectives", "objectives"),
            ("origin", "operator", "family", "parameters", "genome", "description", "multiplier", "reason"),
            ("final_ranking_weights",),
            file="objective.py",
        ),
        "direction": Kind(
            "direction_id",
            ("directions",),
            ("phase", "rationale", "focus", "avoid", "reference_ids"),
            title="direction",
            text=column_text("direction"),
        ),
    },
)
