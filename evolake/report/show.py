"""What is shown about one artifact: what it is, where it comes from, what the gates and the measurements
said, and its text."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from evolake.reading import TEXT_BYTES, Unreadable, read_bytes
from evolake.report.artifacts import kind_of
from evolake.report.found import own_cycle, scores_of
from evolake.report.kinds import Artifact

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

PARENTS = """
SELECT parent_id, known.title, operator, weight, lineage.cycle FROM lineage LEFT
  JOIN known_artifacts AS known ON known.artifact_id = parent_id
WHERE child_id = $id ORDER BY weight DESC, parent_id"""
VERDICTS = """
SELECT cycle, gate_no, gate, rule_id, rule_version, outcome, reason FROM verdicts WHERE artifact_id = $id
  ORDER BY cycle, gate_no, rule_id"""
STATES = (
    "SELECT DISTINCT cycle, state FROM artifacts WHERE artifact_id = $id ORDER BY cycle, state_rank(state)"
)
TITLES = "SELECT cycle, score FROM champions WHERE artifact_id = $id ORDER BY cycle"
CHILDREN = """
SELECT child_id, any_value(known.title) AS title, any_value(known.state) AS state,
  any_value(operator) AS operator, min(lineage.cycle) AS cycle
FROM lineage LEFT JOIN known_artifacts AS known ON known.artifact_id = child_id WHERE parent_id = $id
  GROUP BY child_id ORDER BY cycle, child_id"""
LISTED = 10
"""Children that are named for a terminal."""


def describe(lake: Lake, catalogue: Catalogue, artifact: Artifact) -> dict[str, Any]:
    """Return everything, as plain JSON values."""
    kind = kind_of(artifact)

    def ask(sql: str) -> list[dict[str, Any]]:
        return catalogue.frame(sql, {"id": artifact.artifact_id}).to_dicts()

    made_in = None if artifact.kind == "rule" else own_cycle(lake, catalogue, artifact)
    row = {**artifact.row, **({"cycle": made_in} if made_in else {})}
    return {
        "artifact_id": artifact.artifact_id,
        "line": artifact.line,
        "kind": artifact.kind,
        "title": artifact.title,
        "state": artifact.state or None,
        "cycle": made_in or artifact.cycle or None,
        "content_sha": artifact.content_sha or None,
        "facts": {name: row[name] for name in kind.facts if row.get(name) is not None},
        "states": ask(STATES),
        "parents": ask(PARENTS),
        "children": len(children := ask(CHILDREN)),
        "born": children,
        "verdicts": ask(VERDICTS),
        "champion_in": ask(TITLES),
        "scores": scores_of(catalogue, artifact),
        "remarks": list(kind.remarks(lake, artifact)),
        "text": text_of(lake, artifact),
    }


def text_of(lake: Lake, artifact: Artifact) -> str:
    """Return its text; of a rule its file."""
    return rule_text(lake, artifact) if artifact.kind == "rule" else kind_of(artifact).text(lake, artifact)


def rule_text(lake: Lake, artifact: Artifact) -> str:
    """Return the rule's file as it was in force: a tracked file that is still the same, or the text of a
    learned rule; "" where it has changed since."""
    from hashlib import sha256

    from evolake.settings import load

    for path in sorted((load().seeds / "rules" / artifact.line).glob("*.md")):
        with suppress(OSError, Unreadable):  # a file that cannot be read is not the one that was in force
            if sha256(read_bytes(path, TEXT_BYTES)).hexdigest() == artifact.content_sha:
                return path.read_text(encoding="utf-8")
    return (
        lake.blobs.get(artifact.content_sha).decode()
        if len(artifact.content_sha) == 64 and lake.blobs.has(artifact.content_sha)
        else ""
    )


def lines_of(result: dict[str, Any]) -> list[str]:
    """Return what `told` gave, for a terminal."""
    shown = [
        f"{result['title'] or result['artifact_id']}",
        f"  {result['line']} {result['kind']} {result['artifact_id']}",
    ]
    states = (
        ", ".join(f"{row['state']} in cycle {row['cycle']}" for row in result["states"]) or result["state"]
    )
    shown += [
        f"  {name:<10} {value}"
        for name, value in (("state", states), ("children", result["children"] or None))
        if value
    ]
    shown += [
        f"  {name:<10} {_short(value)}"
        for name, value in result["facts"].items()
        if value not in ("", [], "{}", "[]")
    ]
    for row in result["parents"]:
        shown.append(
            f"  parent     {row['parent_id'][:12]} {row['title'] or ''}, weight {row['weight']:.2f}, by "
            f"{row['operator']}"
        )
    for row in result["born"][:LISTED]:
        shown.append(
            f"  child      {row['child_id'][:12]} {row['title'] or ''}, {row['state'] or ''} in cycle "
            f"{row['cycle']}, by {row['operator']}"
        )
    if more := len(result["born"][LISTED:]):
        shown.append(f"  child      and {more} more")
    shown += [
        f"  champion   of cycle {row['cycle']}, score {_short(row['score'])}" for row in result["champion_in"]
    ]
    for table, row in result["scores"].items():
        shown.append(
            f"  {table}: "
            + ", ".join(f"{name} {_short(value)}" for name, value in row.items() if value is not None)
        )
    shown += [f"  {remark}" for remark in result["remarks"]]
    for row in result["verdicts"]:
        why = f": {row['reason']}" if row["reason"] else ""
        shown.append(f"  gate {row['gate_no']} {row['gate']}: {row['outcome']} by {row['rule_id']}{why}")
    return [*shown, "", result["text"].rstrip("\n") or "(no text)"]


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        return " ".join((rounded(value) if value.startswith("{") else value).split())
    return json.dumps(value, ensure_ascii=False, default=str)


def rounded(record: str) -> str:
    """Return a JSON object with its fractions to six digits; anything else as it is."""
    try:
        return json.dumps(
            json.loads(record, parse_float=lambda digits: float(f"{float(digits):.6g}")), ensure_ascii=False
        )
    except ValueError:
        return record
