"""Show one artifact of any line, by its id or enough of it, also what is no row of `artifacts` (instances,
rules, plans): what it is, where it comes from, what the gates and the measurements said, its text; or write
it as a folder with a README.md."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake import __version__
from evolake.errors import InputError
from evolake.lake.disk import whole_folder
from evolake.lines import lines
from evolake.reading import TEXT_BYTES, Unreadable, read_bytes
from evolake.report.artifacts import Artifact, Kind, artifacts_of, kind_of
from evolake.report.champion import Champion
from evolake.report.standing import NOT_MEASURED

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake


SHORTEST = 8
"""Digits of an id that are enough if no other artifact begins with them."""
NAMED_AT_MOST = 12
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
    names = "".join(f"\n    {item.name}" for item in exact[:NAMED_AT_MOST])
    more = f"\n    and {len(exact) - NAMED_AT_MOST} more" if len(exact) > NAMED_AT_MOST else ""
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


README = "README.md"
PASSED = ("accepted", "champion", "retired")
"""States of what can be bundled."""
ANCESTRY = "SELECT cycle, artifact_id, kind, operator, title, parents FROM ancestry($id)"
GATES = """
SELECT gate, count(*) AS rules, count(*) FILTER (outcome <> 'pass') AS objections FROM verdicts
  WHERE artifact_id = $id AND cycle = (
    SELECT max(cycle) FROM verdicts WHERE artifact_id = $id) GROUP BY gate_no, gate ORDER BY gate_no"""


def take_out(
    lake: Lake,
    catalogue: Catalogue,
    artifact: Artifact,
    out: Path,
    *,
    held: Champion | None = None,
    models: Collection[str] = (),
) -> list[str]:
    """Write the artifact into `out`; all of it is there or nothing. Return the files' names.

    Args:
        held: of a champion, what it holds the title by. models: `base`, `merge`: also write the base
            model of what belongs to it, or both as one model.

    Raises:
        InputError: `out` is not empty or cannot be written, or nothing belongs to it.
    """
    with whole_folder(out) as folder:
        if artifact.kind == "rule":
            (folder / "rule.md").write_text(text_of(lake, artifact), encoding="utf-8")
            command = ""
        else:
            command = kind_of(artifact).write_into(lake, artifact, folder)
        before, after = "", list[str]()
        if held is not None:
            before, after = kind_of(artifact).belongings(lake, artifact, folder, held.cycle, models)
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        text = readme(
            catalogue,
            artifact,
            held,
            command,
            sorted({name.partition("/")[0] for name in names}),
            kind_of(artifact).remarks(lake, artifact),
        )
        ending = "".join(f"{line}\n" for line in ("", *after)) if after else ""
        (folder / README).write_text(before + text + ending, encoding="utf-8")
    return [README, *names]


def readme(
    catalogue: Catalogue,
    artifact: Artifact,
    held: Champion | None,
    command: str,
    files: Sequence[str],
    remarks: Sequence[str] = (),
) -> str:
    """Return what it is, its figures, how to verify them again, and its lineage with what each changed."""
    parts = [f"# {_text(artifact.title) or artifact.artifact_id[:12]}", ""]
    state = f", {artifact.state}" if artifact.state else ""
    what = f"A {artifact.kind} of the line {artifact.line}{state}"
    if held:
        what = f"Champion of the line {held.line} since cycle {held.since}, as of cycle {held.cycle}"
    parts.append(f"{what}. Written by evolake {__version__}.")
    parts += [
        "",
        f"Id: `{artifact.artifact_id}`  ",
        "Files: " + ", ".join(f"`{name}`" for name in files),
        "",
        *(f"- {_text(remark)}" for remark in remarks),
        *([""] if remarks else []),
        "## Figures",
        "",
    ]
    parts += [*_table(("what", "figure"), _figures(catalogue, artifact, held)), "", "## Verify again", ""]
    parts += _commands(artifact, held, command)
    gates = [
        [row["gate"], row["rules"], row["objections"]]
        for row in catalogue.frame(GATES, {"id": artifact.artifact_id}).to_dicts()
    ]
    if gates:
        parts += ["", "## Gates", "", *_table(("gate", "rules", "objections"), gates)]
    lineage = _lineage(catalogue, artifact)
    if lineage:
        parts += [
            "",
            "## Lineage",
            "",
            "Itself last; before it all that it descends from, by the cycle that each was made in.",
            "",
        ]
        parts += _table(("cycle", "id", "operator", "title", "what it changed"), lineage)
    return "\n".join(parts) + "\n"


def _figures(catalogue: Catalogue, artifact: Artifact, held: Champion | None) -> list[list[Any]]:
    rows: list[list[Any]] = []
    if held:
        score, _, note = artifacts_of(held.line).score.partition(", ")
        rows.append(
            [
                f"{score}{f' ({note})' if note else ''}, cycle {held.cycle}",
                "none" if held.score is None else f"{held.score:.4g}",
            ]
        )
        rows.append(["gain", str(held.gain) if held.gain else NOT_MEASURED])
        if held.gain:
            rows += [
                ["gain against", f"{held.gain.against} {held.gain.against_id[:12]}"],
                ["gain measured in cycle", held.gain.cycle],
            ]
    for table, row in scores_of(catalogue, artifact).items():
        scores = ", ".join(
            f"{name} {_figure(value)}" for name, value in row.items() if _is_score(name, value)
        )
        rows.append([f"{table}, cycle {row['cycle']}", scores])
    return rows or [["none", "nothing was measured"]]


def _is_score(name: str, value: Any) -> bool:
    return isinstance(value, (int, float, str)) and name != "cycle" and not name.endswith("_id")


def _figure(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _commands(artifact: Artifact, held: Champion | None, command: str) -> list[str]:
    """Return what to type, in this folder and in the lake."""
    in_lake = [f"evolake champion {held.line} --json"] if held else []
    in_lake.append(f"evolake show {artifact.artifact_id} --json")
    here = ["In this folder:", "", f"    {command}", ""] if command else []
    return [
        *here,
        "In the lake that it was taken from:",
        "",
        *(f"    {line}" for line in in_lake),
        *_bundled(artifact, held),
    ]


def _bundled(artifact: Artifact, held: Champion | None) -> list[str]:
    """Return how its figures are measured again, where it can be bundled."""
    spec = lines().get(artifact.line)
    if not (
        spec
        and spec.bundle
        and artifact.kind in spec.bundle.load().kinds
        and (held or artifact.state in PASSED)
    ):
        return []
    file = f"{'champion' if held else artifact.kind}.tar"
    other = " It brings what the gain was measured against, too." if held and held.gain else ""
    return [
        "",
        "What was measured can be measured again from a bundle. The first command is for that lake; the "
        "second is for any machine with evolake, needs no lake, and says how many evaluations it ran "
        "again (a few, drawn by chance; all with `--all`)." + other,
        "",
        f"    evolake bundle export {artifact.artifact_id} -o {file}",
        f"    evolake bundle verify {file}",
    ]


def _lineage(catalogue: Catalogue, artifact: Artifact) -> list[list[Any]]:
    result = catalogue.frame(ANCESTRY, {"id": artifact.artifact_id}).to_dicts()
    kind = kind_of(artifact)
    rows = rows_of(catalogue, artifact.line, kind, [row["artifact_id"] for row in result])
    lineage: list[list[Any]] = []
    for item in result:
        own = rows.get(item["artifact_id"])
        parents = (
            [rows[name] for name in (own or {}).get("parents") or item["parents"] or [] if name in rows]
            if own
            else []
        )
        said = kind.changed(own, parents) if own else ""
        operator = (own or {}).get("operator") or item["operator"] or "seed"
        lineage.append([item["cycle"], f"`{item['artifact_id'][:12]}`", operator, item["title"], said])
    return lineage


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Return a Markdown table."""
    return [
        "| " + " | ".join(heads) + " |",
        "|" + " --- |" * len(heads),
        *("| " + " | ".join(_text(value) for value in row) + " |" for row in rows),
    ]


def _text(value: Any) -> str:
    """Text of whatever origin as text in Markdown, on one line."""
    text = " ".join(("" if value is None else str(value)).split())
    for mark, kept in (
        ("\\", "\\\\"),
        ("&", "&amp;"),
        ("<", "&lt;"),
        ("|", "\\|"),
        ("[", "\\["),
        ("*", "\\*"),
        ("_", "\\_"),
    ):
        text = text.replace(mark, kept)
    return text
