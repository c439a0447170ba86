"""An artifact as its own folder: what it consists of, and a README.md of where it comes from and what it is
worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake import __version__
from evolake.errors import InputError
from evolake.lake.folders import whole_folder
from evolake.lines import lines
from evolake.report.artifacts import artifacts_of, kind_of
from evolake.report.champion import Champion
from evolake.report.found import rows_of, scores_of
from evolake.report.kinds import Artifact
from evolake.report.show import text_of
from evolake.report.standing import NOT_MEASURED

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

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
    checkpoint: bool = False,
) -> list[str]:
    """Write the artifact into `out`; all of it is there or nothing. Return the files' names.

    Args:
        held: of a champion, what it holds the title by. checkpoint: with what belongs to it next to itself.

    Raises:
        InputError: `out` is not empty or cannot be written, or nothing belongs to it.
    """
    with whole_folder(out) as folder:
        if artifact.kind == "rule":
            (folder / "rule.md").write_text(text_of(lake, artifact), encoding="utf-8")
            command = ""
        else:
            command = kind_of(artifact).write_into(lake, artifact, folder)
        if checkpoint:
            if held is None:
                raise InputError(
                    "only a champion is taken out with a checkpoint", do="leave --checkpoint out"
                )
            kind_of(artifact).belongings(lake, artifact, folder, held.cycle)
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        (folder / README).write_text(
            readme(catalogue, artifact, held, command, sorted({name.partition("/")[0] for name in names})),
            encoding="utf-8",
        )
    return [README, *names]


def readme(
    catalogue: Catalogue, artifact: Artifact, held: Champion | None, command: str, files: Sequence[str]
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
