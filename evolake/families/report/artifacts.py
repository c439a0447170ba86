"""What the families line says of its artifacts, of one family and every attempt at it (idea, outcome, what
the gates said, who made it), and of itself among the lines: it has no champion, so its best is how many
families passed every gate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.family_files import write_family
from evolake.families.model.population import load_family
from evolake.families.report.material import QUESTIONS
from evolake.families.report.story import SQL
from evolake.families.tables_faults import TABLES
from evolake.lake import Catalogue, Lake
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, column_text
from evolake.report.numbers import counted
from evolake.report.standing import Ask, Standing


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with the seeds that passed as its start, and the versions of families that came to the
    gates as its evaluations."""
    seeds, versions = ask(SQL["seeds"])[0], ask(SQL["judged"])[0]["versions"]
    start = counted(seeds["accepted"], "seed family", "seed families")
    return replace(shared, start=start, evaluations=seeds["judged"] + versions)


LINE = "families"

SHORTEST = 8
"""Digits of an id that name a family at least."""


def _catalogue(lake: Lake) -> Catalogue:
    """Return the catalogue, with empty tables where a lake has no families yet."""
    return Catalogue(lake, {(LINE, name): schema for name, schema in TABLES.items()})


def attempts(lake: Lake) -> list[dict[str, Any]]:
    """Return rows of IDEAS of all cycles, the oldest first."""
    with _catalogue(lake) as catalogue:
        return catalogue.frame(SQL["attempts"]).to_dicts()


def family_report(lake: Lake, wanted: str) -> dict[str, Any] | None:
    """Return what is known of a family, by its id or the beginning of it; None if no family, or more than
    one, begins so."""
    if len(wanted) < SHORTEST:
        return None
    with _catalogue(lake) as catalogue:
        found = catalogue.frame(SQL["family"], {"id": wanted}).to_dicts()
        if len(found) != 1:
            return None
        name = {"id": found[0]["family_id"]}
        ideas, verdicts = (catalogue.frame(SQL[asked], name).to_dicts() for asked in ("ideas", "verdicts"))
    return found[0] | {"idea": ideas[0]["idea"] if ideas else None, "verdicts": verdicts}


def attempt_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each attempt, for people."""
    return [
        f"{row['cycle']}  {(row['family_id'] or '')[:12]:12}  {row['outcome']:8}  "
        f"{row['title'] or row['operator']}"
        + (f": {row['idea']}" if row["idea"] else "")
        + (f" ({row['reason']})" if row["reason"] else "")
        for row in rows
    ]


def family_lines(report: dict[str, Any]) -> list[str]:
    """Return a family in lines, for people."""
    parents = ", ".join(parent[:12] for parent in report["parents"] or ()) or "none"
    instances = "" if report["instances"] is None else f", {report['instances']} instances"
    lines = [
        report["family_id"],
        f"  title     {report['title']} ({report['category']}, {report['language']})",
        f"  state     {report['state']}, made in cycle {report['cycle']} by {report['origin']}, "
        f"{report['operator']}{instances}",
        *([f"  idea      {report['idea']}"] if report["idea"] else []),
        f"  parents   {parents}",
        *([f"  blocked   {report['gate']}: {report['reason']}"] if report["reason"] else []),
    ]
    return [
        *lines,
        *(
            f"  gate      {row['gate']}: {row['outcome']} {row['rule_id']} {row['reason'] or ''}".rstrip()
            for row in report["verdicts"]
        ),
    ]


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
    made = catalogue.frame(QUESTIONS["made"], {"cycle": cycle}).to_dicts()
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
