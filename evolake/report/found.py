"""An artifact by its id, or by enough of it: of any line, also what is no row of `artifacts` (instances,
rules, plans)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError
from evolake.report.artifacts import artifacts_of, kind_of
from evolake.report.kinds import Artifact, Kind

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

SHORTEST = 8
"""Digits of an id that are enough if no other artifact begins with them."""
LISTED = 12
_START = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
ARTIFACTS = """
SELECT artifact_id, line, kind, title, state, cycle, content_sha FROM known_artifacts
WHERE artifact_id = $id OR ($short AND starts_with(artifact_id, $id)) ORDER BY line, artifact_id LIMIT 100"""
TITLED = """
SELECT artifact_id, line, kind, title, state, cycle, content_sha FROM known_artifacts
WHERE lower(title) = lower($title) AND superseded = false ORDER BY line, artifact_id LIMIT 100"""
RULES = """
SELECT rule_id, version, kind, text_sha, since_cycle, origin_line AS line FROM rules_all WHERE rule_id = $id
ORDER BY superseded, TRY_CAST(version AS INTEGER) DESC NULLS LAST LIMIT 1"""


def find_artifact(catalogue: Catalogue, wanted: str) -> Artifact:
    """Return the one artifact that `wanted` names: an id, the first digits of one, or a title that nothing
    else has.

    Raises:
        InputError: no artifact is named so, too few digits are given, or several begin with them: lists
            these.
    """
    short = bool(_START.fullmatch(wanted))
    tables = {name for name, _ in catalogue.views()}
    result = [_artifact(row) for row in _rows(catalogue, ARTIFACTS, {"id": wanted, "short": short})]
    for line in sorted({name.partition(".")[0] for name in tables if "." in name}):
        for name, kind in artifacts_of(line).kinds.items():
            if kind.title:
                result += _listed(catalogue, tables, line, name, kind, wanted, short)
    result += [
        Artifact(
            row["rule_id"],
            row["line"],
            "rule",
            f"version {row['version']}",
            content_sha=row["text_sha"] or "",
            row=row,
        )
        for row in _rows(catalogue, RULES, {"id": wanted})
    ]
    if not result and wanted.strip():
        result = [_artifact(row) for row in _rows(catalogue, TITLED, {"title": wanted})]
    exact = [item for item in result if item.artifact_id == wanted] or result
    if len(exact) == 1:
        return with_row(catalogue, exact[0], tables)
    if not exact:
        digits = f"an id, the first {SHORTEST} or more hexadecimal digits of one, or a whole title"
        do = '`evolake sql "SELECT artifact_id, kind, title FROM artifacts_latest"` lists what there is'
        raise InputError(f"nothing is called {wanted!r}", wanted=digits, do=do)
    names = "".join(f"\n    {item.name}" for item in exact[:LISTED])
    more = f"\n    and {len(exact) - LISTED} more" if len(exact) > LISTED else ""
    raise InputError(
        f"{len(exact)} artifacts begin with {wanted!r}, or are called so:{names}{more}",
        wanted="one",
        do="give more digits",
    )


def with_row(catalogue: Catalogue, artifact: Artifact, tables: Iterable[str] | None = None) -> Artifact:
    """With what the line's own tables say of it."""
    if artifact.row:
        return artifact
    return replace(
        artifact,
        row=rows_of(catalogue, artifact.line, kind_of(artifact), [artifact.artifact_id], tables).get(
            artifact.artifact_id, {}
        ),
    )


def rows_of(
    catalogue: Catalogue, line: str, kind: Kind, ids: list[str], tables: Iterable[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Return id -> the row that the line's tables hold of an artifact: of the first table that has one, the
    newest cycle's."""
    there = set(tables or (name for name, _ in catalogue.views()))
    result: dict[str, dict[str, Any]] = {}
    for table in kind.tables:
        missing = [name for name in ids if name not in result]
        if f"{line}.{table}" in there and missing:
            sql = f"FROM {line}.{table} WHERE list_contains($ids, {kind.key}) {_newest(kind)}"
            result |= {row[kind.key]: row for row in _rows(catalogue, sql, {"ids": missing})}
    return result


def own_cycle(lake: Lake, catalogue: Catalogue, artifact: Artifact) -> str | None:
    """Return the cycle in the artifact's own row, the one that it was made in; None if no table has such a
    row.

    A view's `cycle` is that of the part: of a population the cycle that it enters.
    """
    kind, there = kind_of(artifact), {name for name, _ in catalogue.views()}
    for table in kind.tables:
        if f"{artifact.line}.{table}" not in there:
            continue
        sql = f"SELECT cycle FROM {artifact.line}.{table} WHERE {kind.key} = $id {_newest(kind)}"
        for row in _rows(catalogue, sql, {"id": artifact.artifact_id}):
            frame = lake.read(artifact.line, table, row["cycle"])
            if "cycle" in frame.columns:
                return frame.filter(frame[kind.key] == artifact.artifact_id)["cycle"][0]
    return None


def scores_of(catalogue: Catalogue, artifact: Artifact) -> dict[str, dict[str, Any]]:
    """Return table -> its newest row of the artifact."""
    kind, there = kind_of(artifact), {name for name, _ in catalogue.views()}
    scores: dict[str, dict[str, Any]] = {}
    for table in kind.scores:
        if f"{artifact.line}.{table}" in there:
            sql = f"FROM {artifact.line}.{table} WHERE {kind.key} = $id ORDER BY cycle DESC LIMIT 1"
            for row in _rows(catalogue, sql, {"id": artifact.artifact_id}):
                scores[table] = {name: value for name, value in row.items() if name != kind.key}
    return scores


def _artifact(row: Mapping[str, Any]) -> Artifact:
    return Artifact(
        row["artifact_id"],
        row["line"],
        row["kind"] or "",
        row["title"] or "",
        row["state"] or "",
        row["cycle"] or "",
        row["content_sha"] or "",
    )


def _listed(
    catalogue: Catalogue, tables: set[str], line: str, name: str, kind: Kind, wanted: str, short: bool
) -> list[Artifact]:
    """Artifacts of a kind that is no row of `artifacts`."""
    for table in kind.tables:
        if f"{line}.{table}" not in tables:
            continue
        sql = f"""FROM {line}.{table} WHERE {kind.key} = $id OR ($short AND starts_with({kind.key}, $id))
            {_newest(kind)} ORDER BY {kind.key} LIMIT 100"""
        if rows := _rows(catalogue, sql, {"id": wanted, "short": short}):
            return [
                Artifact(
                    row[kind.key],
                    line,
                    name,
                    str(row[kind.title] or "").split("\n")[0][:100],
                    row.get("state") or "",
                    row["cycle"],
                    row=row,
                )
                for row in rows
            ]
    return []


def _newest(kind: Kind) -> str:
    """Of each artifact the newest cycle's row."""
    return f"QUALIFY row_number() OVER (PARTITION BY {kind.key} ORDER BY cycle DESC) = 1"


def _rows(catalogue: Catalogue, sql: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    result = catalogue.query(sql, parameters)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]
