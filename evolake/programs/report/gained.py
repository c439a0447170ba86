"""What the programs line gained, to be repeated and to be seen: each project's score before and after, next
to the dumb searches and the best known value; what the two programs return, drawn; who made the new lines."""

from __future__ import annotations

from textwrap import shorten

from evolake.errors import EvolakeError
from evolake.lake import Lake
from evolake.programs.evolution.population import texts_of
from evolake.programs.model.project import Project, project_of
from evolake.programs.report.certificate import SEED, draw_construction
from evolake.programs.report.story import DECIDED, baseline_in_words, improves, project_files
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.settings import ProgramsSettings
from evolake.report.artifacts import Exhibit
from evolake.report.numbers import figures
from evolake.report.standing import Ask, Row
from evolake.settings import load

DIGITS = 4
LINES, WIDTH = 12, 110
"""Changed lines that are shown, and characters of one."""
BLAME = """
SELECT made_in, operator, gain, text FROM programs.blame
WHERE cycle = $cycle AND project = $project AND operator <> 'initial' ORDER BY file, line"""
MADE_BY = "SELECT operator FROM programs.candidates WHERE program_id = $program LIMIT 1"
BY = {"polish": "by a polish of its numbers", "model": "by a model"}
"""Operators whose names a reader does not know from the screen of a run."""
FILES = """
SELECT program_id, files_sha FROM programs.incoming_programs WHERE program_id IN ($first, $second)
UNION SELECT program_id, files_sha FROM programs.candidates WHERE program_id IN ($first, $second)
UNION SELECT program_id, files_sha FROM programs.seeds WHERE program_id IN ($first, $second)"""


def gained(lake: Lake, ask: Ask) -> str:
    """Return the scores of each project that improved; "" if none did."""
    return "; ".join(_scores(lake, row, ask) for row in ask(DECIDED) if improves(row))


def exhibit(lake: Lake, ask: Ask) -> Exhibit:
    """Return the constructions of the first improved project, drawn, and its champion's changed lines."""
    row = next(row for row in ask(DECIDED) if improves(row))
    changed = ask(BLAME, project=row["project"])
    shown = [
        f"cycle {item['made_in']}, {item['operator']}, {item['gain'] or 0:+.4g} | "
        f"{shorten(item['text'], WIDTH, placeholder=' ...')}"
        for item in changed[:LINES]
    ]
    shown += [f"... {len(changed) - LINES} more"] if len(changed) > LINES else []
    texts = (
        {"The champion's new lines: who made them, and what they gained": "\n".join(shown)} if shown else {}
    )
    try:
        return Exhibit(_pictures(lake, ask, row), texts)
    except EvolakeError as error:
        return Exhibit(texts=texts, note=f"not drawn: {error}")


def _scores(lake: Lake, row: Row, ask: Ask) -> str:
    project = _project(lake, row)
    made = [item["operator"] for item in ask(MADE_BY, program=row["holder_id"])]
    by = f", {BY.get(made[0], f'by the operator {made[0]}')}" if made else ""
    known = project.given.construction
    ends = " to ".join(_four(row[name]) for name in ("initial_mean", "holder_mean"))
    parts = [
        f"{_title(project)}: {ends}{by}",
        baseline_in_words(row, DIGITS),
        f"best known {_four(known.best)}" if known.best is not None else "",
    ]
    return "; ".join(filter(None, parts))


def _pictures(lake: Lake, ask: Ask, row: Row) -> dict[str, bytes]:
    """Return what the initial program and the champion return, by running both in the jail."""
    project, settings = _project(lake, row), load()
    known = project.given.construction
    if known.best is None:
        return {}
    project = with_mode(project, settings.of(ProgramsSettings), settings.jail)
    ids = {"initial_mean": row["initial_id"], "holder_mean": row["holder_id"]}
    files = {
        item["program_id"]: item["files_sha"]
        for item in ask(FILES, first=ids["initial_mean"], second=ids["holder_mean"])
    }
    result = {}
    with Evaluator(project, settings.of(ProgramsSettings), mode=settings.jail) as evaluator:
        for column, when in (("initial_mean", "at the start"), ("holder_mean", "now")):
            value = evaluator.constant_value(texts_of(lake.blobs, files[ids[column]]), [SEED])
            if value is None:
                return {}
            title = f"{row['project']} {when}: {_four(row[column])}"
            result[title] = draw_construction(known.picture, value)
    return result


def _four(value: float) -> str:
    """Return a score with four digits, zeros at its end included."""
    return f"{value:#.{DIGITS}g}" if 1 <= abs(value) < 10 ** (DIGITS - 1) else figures(value, DIGITS)


def _project(lake: Lake, row: Row) -> Project:
    return project_of(row["project"], project_files(lake, row["project"]))


def _title(project: Project) -> str:
    return project.given.description.rstrip(".") or project.name
