"""What the families line says of its artifacts."""

from __future__ import annotations

from pathlib import Path

from evolake.families.model.contract import Family
from evolake.families.model.population import load_family
from evolake.families.model.writing import write_family
from evolake.families.report.data import MADE
from evolake.families.report.standing import standing
from evolake.lake import Catalogue, Lake
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, column_text


def family_text(lake: Lake, artifact: Artifact) -> str:
    """Return its template and every program."""
    family = _family(lake, artifact)
    parts = {"template.md": family.template, **family.sources()}
    return "\n".join(f"==> {name} <==\n{text}" for name, text in parts.items())


def write_folder(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """family/, as `evolake families check` reads it."""
    write_family(_family(lake, artifact), folder / "family")
    return "evolake families check family --json"


def _family(lake: Lake, artifact: Artifact) -> Family:
    return load_family(artifact.row.get("record_sha") or artifact.content_sha, lake.blobs)


def outcome(catalogue: Catalogue, cycle: str) -> str:
    """Return accepted families and instances with voted labels, of this cycle and so far."""
    made = catalogue.frame(MADE, {"cycle": cycle}).to_dicts()
    now = next((row for row in made if row["cycle"] == cycle), {"accepted": 0, "attempts": 0, "instances": 0})
    families, instances = (sum(row[column] for row in made) for column in ("accepted", "instances"))
    return (
        f"{now['accepted']} of {now['attempts']} proposed families accepted, with {now['instances']:,} "
        f"instances; evolved so far: {families} families, {instances:,} instances"
    )


ARTIFACTS = LineArtifacts(
    crowns_none=(
        "every accepted family lives on: see `evolake families gallery --evolved --out DIR`; `evolake "
        "families export` writes their data"
    ),
    outcome=outcome,
    standing=standing,
    kinds={
        "family": Kind(
            "family_id",
            ("incoming_families", "candidates", "seeds"),
            ("name", "category", "language", "origin", "operator", "instances", "gate", "rule_id", "reason"),
            ("complexity", "ideas"),
            text=family_text,
            write=write_folder,
        ),
        "instance": Kind(
            "instance_id",
            ("instances",),
            ("family_id", "category", "language", "difficulty", "seed", "answer", "votes", "voters"),
            title="text",
            text=column_text("text"),
        ),
    },
)
