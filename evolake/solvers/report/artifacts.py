"""What the solvers line says of its artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evolake.lake import Lake
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, column_text
from evolake.report.gain import Gain
from evolake.scratch import Scratch
from evolake.solvers.measurement.duel_families import family_lines
from evolake.solvers.report.material import LINE, families_of
from evolake.solvers.report.story import (
    bound_of,
    families_in,
    formulas_in_words,
    interval_of,
    outcome,
    sample_of,
    standing,
)
from evolake.solvers.repository.variant import WRITTEN_OUT


def gain_of(lake: Lake, artifact_id: str, _cycle: str, since: str) -> Gain | None:
    """By the duel that the champion won when it became champion; None for one that has been champion since
    the seeds, without any."""
    won = [
        row
        for row in lake.read(LINE, "champion", since).to_dicts()
        if row["wins"] and row["challenger_id"] == artifact_id
    ]
    if not won:
        return None
    return gain_of_decision(won[0])


def gain_of_decision(row: Mapping[str, Any]) -> Gain:
    """Return the gain that a row of DECISIONS states."""
    return Gain(
        interval_of(row),
        "lower cost",
        row["champion_id"],
        sample_of(row),
        row["cycle"],
        row["wins"],
        noise_floor=row["noise_floor"],
        own=row["par2_challenger"],
        other=row["par2_champion"],
        count=formulas_in_words(row),
        bound=bound_of(row),
    )


BUILD = """#!/bin/sh
# Builds the sources in solver/ with the system's make and C++ compiler into program/. Nothing of evolake is needed.
#   program/bin/starexec_run_default FORMULA.cnf [FOLDER]     solves; with a folder it writes the proof FOLDER/proof.out
set -eu
case "$0" in */*) cd "${0%/*}" ;; esac
CXX="${CXX:-$(command -v g++ || command -v clang++)}"
export CXX
rm -rf program
cp -R solver program
./program/starexec_build
"""  # noqa: E501


def variant_text(lake: Lake, artifact: Artifact) -> str:
    """Return what it changes in its first parent, as a diff; of a seed the list of its files."""
    if artifact.row.get("parents"):
        sha = artifact.row["diff_sha"]
        return lake.blobs.get(sha).decode("utf-8", "replace") if sha else ""
    with Scratch("show") as parent:
        folder = Path(parent) / "solver"
        lake.blobs.get_tree(_archive(artifact), folder)
        return "".join(
            f"{path.relative_to(folder).as_posix()}\n" for path in sorted(folder.rglob("*")) if path.is_file()
        )


def plan_text(lake: Lake, artifact: Artifact) -> str:
    """Return the instructions of a plan, and why no variant came of it if none did."""
    cycle = artifact.row["cycle"]
    failed_proposals = (
        lake.read(LINE, "unmade", cycle).to_dicts() if lake.record(LINE, "unmade", cycle) is not None else []
    )
    reasons = [row["reason"] for row in failed_proposals if row["plan_id"] == artifact.row["plan_id"]]
    return "\n\n".join(
        [artifact.row["instructions"] or "", *(f"No variant came of it: {reason}" for reason in reasons)]
    )


def contest_lines(lake: Lake, artifact: Artifact) -> list[str]:
    """Return each duel in which a variant was the challenger, and its results by family of formulas, the
    oldest first."""
    lines = []
    for cycle in lake.cycles(LINE, "champion"):
        for row in lake.read(LINE, "champion", cycle).to_dicts():
            if row["challenger_id"] == artifact.artifact_id:
                lines.append(f"duel of cycle {cycle} against {row['champion_id'][:12]}: {outcome(row)}")
                lines += [f"  {line}" for line in family_lines(families_in(families_of(lake, cycle), row))]
    return lines


def write_variant(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """solver/, the repository as it was judged, and build.sh."""
    lake.blobs.get_tree(_archive(artifact), folder / WRITTEN_OUT)
    (folder / "build.sh").write_text(BUILD)
    (folder / "build.sh").chmod(0o755)
    return f"evolake solvers verify {WRITTEN_OUT} --suite smoke && ./build.sh"


def _archive(artifact: Artifact) -> str:
    return artifact.row.get("archive_sha") or artifact.content_sha


ARTIFACTS = LineArtifacts(
    gain=gain_of,
    standing=standing,
    score="consensus, lower is better",
    kinds={
        "variant": Kind(
            "variant_id",
            ("incoming_variants", "variants", "seeds"),
            (
                "base",
                "origin",
                "operator",
                "hypothesis",
                "changed",
                "edits",
                "repairs",
                "gate",
                "rule_id",
                "reason",
            ),
            ("consensus_ranking", "metrics"),
            text=variant_text,
            write=write_variant,
            changed=lambda row, _: str(row["changed"] or ""),
            remarks=contest_lines,
        ),
        "objective": Kind(
            "objective_id",
            ("incoming_objectives", "objectives"),
            ("origin", "family", "parameters", "multiplier", "reason"),
            ("consensus_weights",),
            title="description",
            text=column_text("source"),
            file="objective.py",
        ),
        "plan": Kind(
            "plan_id",
            ("plan",),
            ("kind", "target", "parent_ids", "hypothesis", "origin"),
            title="hypothesis",
            text=plan_text,
        ),
    },
)
