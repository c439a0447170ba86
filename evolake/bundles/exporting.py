"""An artifact of a lake as a bundle: the same artifact of the same lake gives the same bytes."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from importlib import metadata
from typing import TYPE_CHECKING, Any

from evolake import __version__
from evolake.bundles.container import RULES, as_json, pack
from evolake.bundles.identity import identity_of
from evolake.bundles.model import bundle_of
from evolake.errors import InputError
from evolake.lines import lines
from evolake.report.artifacts import Artifact, artifacts_of
from evolake.report.champion import Champion, current_champion
from evolake.report.show import find_artifact, rule_text
from evolake.settings import Settings

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

CLAIMS, LINEAGE, VERDICTS, EVALUATIONS, ENVIRONMENT = (
    "claims.json",
    "lineage.json",
    "verdicts.json",
    "evaluations.json",
    "environment.json",
)
PASSED = ("accepted", "champion", "retired")
COMMON = (CLAIMS, LINEAGE, VERDICTS, EVALUATIONS, ENVIRONMENT)
ANCESTRY = "SELECT artifact_id, kind, cycle, state, operator, parents, title FROM ancestry($id)"
EDGES = """
SELECT DISTINCT child_id, parent_id, operator, weight, cycle FROM lineage
WHERE child_id IN (SELECT artifact_id FROM ancestry($id)) ORDER BY ALL"""
JUDGED = """
SELECT cycle, gate_no, gate, rule_id, rule_version, outcome, reason FROM verdicts WHERE artifact_id = $id
QUALIFY row_number() OVER (PARTITION BY gate, rule_id ORDER BY cycle DESC) = 1 ORDER BY gate_no, gate,
  rule_id"""
WRITTEN = """
SELECT DISTINCT rule_id, version, text_sha FROM rules_all WHERE origin_line = $line ORDER BY ALL"""
MEASURED = """
SELECT suite, instance, seed, status, cpu_s, peak_mb, counters, certificate FROM evaluations
  WHERE artifact_id = $id
ORDER BY suite, instance, seed"""


def export(lake: Lake, catalogue: Catalogue, wanted: str, settings: Settings, project: str = "") -> bytes:
    """Return the bundle of what `wanted` names: a line's champion by the line's name, or an artifact by its
    id or the first digits of it.

    project: of a line with a champion for each project, which; "" for the first by name.

    Raises:
        InputError: nothing is called so, it did not pass its gates, or its line has no bundles.
    """
    artifact, held = _named(lake, catalogue, wanted, project)
    line = bundle_of(artifact.line)
    if artifact.kind not in line.kinds:
        what = f"a {artifact.kind} of the line {artifact.line} cannot be bundled"
        raise InputError(
            what,
            wanted=f"a {' or a '.join(line.kinds)}",
            got=artifact.name,
            do="evolake champion LINE says who is champion",
        )
    verdicts = catalogue.frame(JUDGED, {"id": artifact.artifact_id}).to_dicts()
    if artifact.state not in PASSED or any(row["outcome"] != "pass" for row in verdicts):
        said = next(
            (f"{row['gate']}: {row['reason']}" for row in verdicts if row["outcome"] != "pass"),
            f"it is {artifact.state or 'in no state'}",
        )
        raise InputError(
            f"{artifact.name} did not pass its gates",
            wanted="an artifact that is accepted or champion",
            got=said,
        )
    texts, summary = _rules(
        lake, catalogue, artifact.line, {(row["rule_id"], row["rule_version"]) for row in verdicts}
    )
    carried = line.carry(lake, catalogue, artifact, settings)
    if strange := sorted(set(carried.members) - set(line.members)):
        raise ValueError(
            f"the line {artifact.line} puts {strange[0]!r} into a bundle and does not name it in `members`"
        )
    members = {
        CLAIMS: as_json(carried.claims),
        VERDICTS: as_json({"verdicts": verdicts, "rules": summary}),
        ENVIRONMENT: as_json(environment()),
        LINEAGE: as_json(
            {
                "artifacts": catalogue.frame(ANCESTRY, {"id": artifact.artifact_id}).to_dicts(),
                "derivations": catalogue.frame(EDGES, {"id": artifact.artifact_id}).to_dicts(),
            }
        ),
        EVALUATIONS: as_json(catalogue.frame(MEASURED, {"id": artifact.artifact_id}).to_dicts()),
        **texts,
        **carried.members,
    }
    try:
        facts = _facts(artifact, held)
        return pack(facts | {"identity": identity_of(line, facts, members)}, members)
    except ValueError as error:
        raise InputError(
            f"{artifact.name} cannot be bundled",
            got=str(error),
            do="evolake champion LINE --out DIR writes a folder",
        ) from None


def environment() -> dict[str, Any]:
    """Return what it was exported with: versions of evolake, of Python and of all that evolake needs, and the
    machine's architecture."""
    return {
        "evolake": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "packages": dict(sorted(_packages())),
    }


def _packages() -> Iterable[tuple[str, str]]:
    try:
        needed = metadata.requires("evolake") or []
    except metadata.PackageNotFoundError:
        needed = []
    for line in needed:
        name = re.match(r"[A-Za-z0-9._-]+", line.strip())[0]  # type: ignore[index]
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _named(lake: Lake, catalogue: Catalogue, wanted: str, project: str) -> tuple[Artifact, Champion | None]:
    if wanted in lines():
        bundle_of(wanted)
        if artifacts_of(wanted).crowns_none:
            do = (
                'name one by its id: evolake sql "SELECT artifact_id, title FROM artifacts_latest WHERE '
                f"line = '{wanted}'\""
            )
            raise InputError(
                f"{wanted} has no champion",
                wanted="the id of an artifact that is accepted",
                got=wanted,
                do=do,
            )
        held = current_champion(lake, catalogue, wanted, project)
        return find_artifact(catalogue, held.artifact_id), held
    if project:
        raise InputError(
            "--project chooses among the champions of a line",
            wanted="a line's name",
            got=wanted,
            do="leave --project out",
        )
    artifact = find_artifact(catalogue, wanted)
    if artifacts_of(artifact.line).crowns_none or artifact.state != "champion":
        return artifact, None
    held = current_champion(lake, catalogue, artifact.line)
    return artifact, held if held.artifact_id == artifact.artifact_id else None


def _rules(
    lake: Lake, catalogue: Catalogue, line: str, asked: set[tuple[str, str]]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """(members with the texts of the rules, what is said of each). A rule whose file has changed since has no
    text, and says so."""
    members: dict[str, bytes] = {}
    details: dict[str, Any] = {}
    for row in catalogue.frame(WRITTEN, {"line": line}).to_dicts():
        if (row["rule_id"], row["version"]) in asked and not details.get(row["rule_id"], {}).get("member"):
            text = rule_text(lake, Artifact(row["rule_id"], line, "rule", "", content_sha=row["text_sha"]))
            name = f"{RULES}{row['rule_id']}.md" if text else None
            details[row["rule_id"]] = {"version": row["version"], "sha256": row["text_sha"], "member": name}
            if name:
                members[name] = text.encode()
    for rule_id, version in sorted(asked):
        details.setdefault(rule_id, {"version": version, "sha256": None, "member": None})
    return members, details


def _facts(artifact: Artifact, held: Champion | None) -> dict[str, Any]:
    return {
        "line": artifact.line,
        "kind": artifact.kind,
        "artifact_id": artifact.artifact_id,
        "title": artifact.title,
        "state": artifact.state,
        "evolake": __version__,
        "champion": {
            "cycle": held.cycle,
            "since": held.since,
            "score": held.score,
            "gain": held.gain.to_json() if held.gain else None,
        }
        if held
        else None,
    }
