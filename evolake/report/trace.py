"""The history of a line as plain files, for other tools: one line of JSON for each artifact that ever was,
and its texts by their sha256 (docs/traces.md has the layout). `evolake audit` reads it as a finished run."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake import __version__
from evolake.errors import InputError
from evolake.lake.disk import whole_folder
from evolake.report.artifacts import Artifact, Kind, artifacts_of
from evolake.report.show import rows_of

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

Row = dict[str, Any]
FORMAT, VERSION = "evolake-trace", 1
HEAD, RECORDS, BLOBS = "trace.json", "candidates.jsonl", "blobs"
BORN = """
SELECT known.*, born.born FROM known_artifacts AS known
JOIN (SELECT artifact_id, min(cycle) AS born FROM artifacts_all GROUP BY ALL) AS born USING (artifact_id)
WHERE known.line = $line"""
PARENTS = """
SELECT child_id, parent_id, any_value(operator) AS operator, max(weight) AS weight FROM lineage
SEMI JOIN (SELECT artifact_id AS child_id FROM known_artifacts WHERE line = $line) USING (child_id)
GROUP BY ALL ORDER BY child_id, weight DESC, parent_id"""
VERDICTS = """
SELECT artifact_id, cycle, gate, rule_id, rule_version, outcome, reason FROM verdicts
SEMI JOIN (SELECT artifact_id FROM known_artifacts WHERE line = $line) USING (artifact_id)
ORDER BY artifact_id, cycle, gate_no, rule_id"""
CALLS = """
SELECT artifact_id, count(*) AS calls, sum(input_tokens) AS input, sum(cached_tokens) AS cached,
  sum(output_tokens) AS output, sum(usd) AS usd, sum(latency_s) AS model_s
FROM calls WHERE line = $line AND artifact_id IS NOT NULL GROUP BY artifact_id"""
RAN = """
SELECT artifact_id, count(*) AS evaluations, sum(cpu_s) AS cpu_s, sum(wall_s) AS wall_s FROM evaluations
SEMI JOIN (SELECT artifact_id FROM known_artifacts WHERE line = $line) USING (artifact_id)
GROUP BY artifact_id"""


TITLES = "SELECT artifact_id, cycle FROM champions WHERE line = $line ORDER BY cycle"


def write_trace(lake: Lake, catalogue: Catalogue, line: str, out: Path, project: str = "") -> Row:
    """Write the history of a line into a folder; all of it is there or nothing. Return the head.

    project: of a line with several projects, the one whose artifacts are written; "" for all.

    Raises:
        InputError: the line has no artifacts, no such project, or the folder cannot be written.
    """
    found = _artifacts(catalogue, line)
    if project:
        known = sorted({str(item.row["project"]) for item in found if item.row.get("project")})
        if project not in known:
            wanted = f"one of {', '.join(known)}" if known else "a line without --project"
            raise InputError(f"{line} has no project {project!r}", wanted=wanted)
        found = [item for item in found if item.row.get("project") == project]
    if not found:
        do = f"evolake run --lines {line}" if artifacts_of(line).kinds else "evolake sql --list"
        raise InputError(f"the lake holds no artifacts of {line!r}", wanted="a line that has run", do=do)
    with whole_folder(out) as folder:
        head = _written(lake, catalogue, line, found, folder)
    return head


def _artifacts(catalogue: Catalogue, line: str) -> list[Artifact]:
    """Return what a line ever made, with its newest row, parents first."""
    rows = catalogue.frame(BORN, {"line": line}).to_dicts()
    kinds, tables = artifacts_of(line).kinds, [name for name, _ in catalogue.views()]
    own: dict[str, Row] = {}
    for name, kind in kinds.items():
        ids = [row["artifact_id"] for row in rows if row["kind"] == name]
        own |= rows_of(catalogue, line, kind, ids, tables) if kind.key and ids else {}

    def place(row: Row) -> tuple[str, int, str]:
        number = own.get(row["artifact_id"], {}).get("number")
        return row["born"], number if isinstance(number, int) else 0, row["artifact_id"]

    rows.sort(key=place)
    return [
        Artifact(
            row["artifact_id"],
            line,
            row["kind"] or "",
            row["title"] or "",
            row["state"] or "",
            row["born"],
            row["content_sha"] or "",
            own.get(row["artifact_id"], {}),
        )
        for row in rows
    ]


def _written(lake: Lake, catalogue: Catalogue, line: str, found: list[Artifact], folder: Path) -> Row:
    """Write all files of a trace; return its head."""
    given = {"line": line}
    parents = _grouped(catalogue.frame(PARENTS, given).to_dicts(), "child_id")
    verdicts = _grouped(catalogue.frame(VERDICTS, given).to_dicts(), "artifact_id")
    calls = {row["artifact_id"]: row for row in catalogue.frame(CALLS, given).to_dicts()}
    ran = {row["artifact_id"]: row for row in catalogue.frame(RAN, given).to_dicts()}
    titles = _grouped(catalogue.frame(TITLES, given).to_dicts(), "artifact_id")
    scores = _scores(catalogue, line, found)
    order = _parents_first(found, parents)
    texts: dict[str, Mapping[str, str]] = {}
    with (folder / RECORDS).open("w", encoding="utf-8", newline="\n") as file:
        for number, item in enumerate(order):
            kind = artifacts_of(line).kinds.get(item.kind, Kind())
            files = {name: _put(folder, text) for name, text in _texts(lake, kind, item).items() if text}
            texts[item.artifact_id] = files
            above = [row for row in parents.get(item.artifact_id, ()) if row["parent_id"] in texts]
            diff = _diff(folder, texts[above[0]["parent_id"]], files) if above else ""
            paid, spent = calls.get(item.artifact_id, {}), ran.get(item.artifact_id, {})
            record = {
                "number": number,
                "id": item.artifact_id,
                "kind": item.kind,
                "title": item.title,
                "cycle": item.cycle,
                "state": item.state,
                "champion_in": [row["cycle"] for row in titles.get(item.artifact_id, ())],
                "project": item.row.get("project"),
                "operator": item.row.get("operator") or (above[0]["operator"] if above else None),
                "parents": [{"id": row["parent_id"], "weight": row["weight"]} for row in above],
                "files": files,
                "diff": _put(folder, diff) if diff else None,
                "score": kind.score_of(item.row, scores.get(item.artifact_id, {})),
                "higher_is_better": kind.higher_is_better(lake, item.row),
                "scores": scores.get(item.artifact_id, {}),
                "facts": {name: item.row.get(name) for name in kind.facts},
                "verdicts": [_without(row, "artifact_id") for row in verdicts.get(item.artifact_id, ())],
                "tokens": {
                    name: paid.get(name) or 0 for name in ("calls", "input", "cached", "output", "usd")
                },
                "seconds": {
                    "model": paid.get("model_s") or 0,
                    "evaluations": spent.get("evaluations"),
                    "cpu": spent.get("cpu_s") if spent else item.row.get("cpu_s"),
                },
            }
            file.write(json.dumps(_finite(record), default=str, allow_nan=False) + "\n")
    head = {
        "format": FORMAT,
        "version": VERSION,
        "evolake": __version__,
        "line": line,
        "kind": next(iter(artifacts_of(line).kinds), order[0].kind),
        "candidates": len(order),
        "without_text": sum(not files for files in texts.values()),
        "projects": sorted({str(item.row["project"]) for item in order if item.row.get("project")}),
    }
    (folder / HEAD).write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")
    return head


def _texts(lake: Lake, kind: Kind, item: Artifact) -> Mapping[str, str]:
    """Return the texts of an artifact by name; none if the lake has lost its blob."""
    try:
        return kind.files_of(lake, item)
    except InputError:
        return {}


def _scores(catalogue: Catalogue, line: str, found: list[Artifact]) -> dict[str, dict[str, Row]]:
    """Return id -> table -> its newest row of figures."""
    result: dict[str, dict[str, Row]] = {}
    there = {name for name, _ in catalogue.views()}
    for name, kind in artifacts_of(line).kinds.items():
        ids = {item.artifact_id for item in found if item.kind == name}
        for table in kind.scores if ids else ():
            if f"{line}.{table}" not in there:
                continue
            newest = f"row_number() OVER (PARTITION BY {kind.key} ORDER BY cycle DESC) = 1"
            sql = f"FROM {line}.{table} QUALIFY {newest}"
            for row in catalogue.frame(sql).to_dicts():
                if row[kind.key] in ids:
                    result.setdefault(row[kind.key], {})[table] = _without(row, kind.key)
    return result


def _parents_first(found: list[Artifact], parents: Mapping[str, list[Row]]) -> list[Artifact]:
    """Return artifacts in their order, but each after its parents."""
    known, done, result = {item.artifact_id: item for item in found}, set[str](), list[Artifact]()
    for item in found:
        stack = [item.artifact_id]
        waiting: set[str] = set()
        while stack:
            name = stack[-1]
            missing = [
                row["parent_id"]
                for row in parents.get(name, ())
                if row["parent_id"] in known and row["parent_id"] not in done | waiting
            ]
            if missing and name not in waiting:
                waiting.add(name)
                stack += missing
                continue
            stack.pop()
            if name not in done:
                done.add(name)
                result.append(known[name])
    return result


def _put(folder: Path, text: str) -> str:
    """Write a text by its sha256, once; return that."""
    data = text.encode("utf-8", "replace")
    sha = hashlib.sha256(data).hexdigest()
    path = folder / BLOBS / sha[:2] / sha
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return sha


def _diff(folder: Path, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return a unified diff between the files of two artifacts."""

    def lines(files: Mapping[str, str], name: str) -> list[str]:
        sha = files.get(name)
        text = (folder / BLOBS / sha[:2] / sha).read_text(encoding="utf-8") if sha else ""
        return text.splitlines()

    parts: list[str] = []
    for name in {**before, **after}:
        if before.get(name) != after.get(name):
            both = lines(before, name), lines(after, name)
            parts += difflib.unified_diff(*both, f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(parts) + "\n" if parts else ""


def _grouped(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    result: dict[str, list[Row]] = {}
    for row in rows:
        result.setdefault(row[key], []).append(row)
    return result


def _without(row: Row, key: str) -> Row:
    return {name: value for name, value in row.items() if name != key}


def _finite(value: Any) -> Any:
    """Return a value that JSON can write: numbers that are not finite are null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
