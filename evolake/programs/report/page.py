"""The programs line's part of the page: champions, what protected their scores, what was tried and blocked,
figures; and one program: what it scored, what gates said, how it differs from where its project began."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake import Catalogue, Lake, following
from evolake.programs.evolution.population import Population, Row, texts_of
from evolake.programs.report.material import (
    LINE,
    material_of,
    population_entering,
    simplified_in_words,
    simplified_of,
)
from evolake.programs.report.story import improves, score_in_words
from evolake.programs.report.tracing import blame_rows
from evolake.report.finished_cycle import questions, read_cycle
from evolake.report.numbers import figures
from evolake.report.pages import Section, section
from evolake.report.show import rounded

PACKAGE = "evolake.programs.report"
LONGEST_DIFF = 20_000


def programs_section(root: Path, cycle: str) -> Section:
    """Return the section of one finished cycle."""
    report = read_cycle(root, LINE, cycle, questions(PACKAGE, "page.sql"))
    lake, decisions = report.lake, report.rows("decided")
    material = material_of(lake, following(cycle))
    diffs = [
        diff_of(
            lake,
            material.population.initial(row["project"])["files_sha"],
            (simplified_of(lake, row["holder_id"]) or material.population.champion(row["project"]))[
                "files_sha"
            ],
        )
        for row in decisions
    ]
    return section(
        PACKAGE,
        report,
        material,
        decisions=decisions,
        in_words=score_in_words,
        improves=improves,
        open=[row["project"] for row in decisions if not row["protected"]],
        diff="\n".join(diffs)[:LONGEST_DIFF] or "the initial program is champion",
    )


def diff_of(lake: Lake, before: str, after: str) -> str:
    """Return a unified diff between two stored programs; "" where they are the same."""
    old, new = texts_of(lake.blobs, before), texts_of(lake.blobs, after)
    parts = [
        line
        for name in new
        for line in difflib.unified_diff(
            old.get(name, "").splitlines(),
            new[name].splitlines(),
            f"initial/{name}",
            f"champion/{name}",
            lineterm="",
        )
    ]
    return "\n".join(parts)


SHORTEST = 8
VERDICTS = (
    "SELECT gate_no, gate, rule_id, outcome, reason FROM verdicts WHERE artifact_id = $id ORDER BY "
    "gate_no, rule_id"
)
FACTS = (
    "program_id",
    "project",
    "state",
    "operator",
    "parents",
    "cycle",
    "generation",
    "origin",
    "score",
    "size",
    "cell",
    "islands",
    "front",
    "protected",
    "idea",
)


def program_named(lake: Lake, wanted: str) -> tuple[Population, Row]:
    """Return the newest population, and the row of a program in it, by its id, the beginning of it, or its
    project's name for the champion.

    Raises:
        InputError: there is none, or more than one.
    """
    cycles = lake.cycles(LINE, "incoming_programs")
    population = population_entering(lake, cycles[-1]) if cycles else Population.empty()
    rows = population.rows()
    if wanted in {row["project"] for row in rows}:
        return population, population.champion(wanted)
    if len(wanted) >= SHORTEST:
        more = [
            row
            for cycle in lake.cycles(LINE, "simplified_programs")
            for row in lake.read(LINE, "simplified_programs", cycle).to_dicts()
        ]
        found = {row["program_id"]: row for row in (*rows, *more) if row["program_id"].startswith(wanted)}
        if len(found) == 1:
            return population, next(iter(found.values()))
    raise InputError(
        f"no program {wanted!r} is in the lake",
        wanted="an id as `evolake sql` shows it, or a project's name",
        do="evolake status",
    )


def blame_of(lake: Lake, wanted: str) -> list[Row]:
    """Return rows of BLAME of a program that `program_named` finds, without a cycle."""
    population, row = program_named(lake, wanted)
    project = population.rows(row["project"])
    ways = (
        item["higher_is_better"]
        for cycle in reversed(lake.cycles(LINE, "projects"))
        for item in lake.read(LINE, "projects", cycle).to_dicts()
        if item["project"] == row["project"]
    )
    higher = next(ways, True)  # before the first cycle no program has a parent, and so none a gain
    return blame_rows(
        row,
        {item["program_id"]: item for item in (*project, row)},
        lambda item: texts_of(lake.blobs, item["files_sha"]),
        higher_is_better=higher,
    )


def details_of(lake: Lake, wanted: str) -> dict[str, Any]:
    """Return what is known of a program that `program_named` finds."""
    population, result = program_named(lake, wanted)
    with Catalogue(lake) as catalogue:
        verdicts = catalogue.frame(VERDICTS, {"id": result["program_id"]}).to_dicts()
    details = {name: result[name] for name in FACTS}
    shown = simplified_of(lake, result["program_id"]) or result
    diff = diff_of(lake, population.initial(result["project"])["files_sha"], shown["files_sha"])
    return details | {
        "simplified": simplified_in_words(lake, result["program_id"]) or None,
        "simplified_id": shown["program_id"] if shown is not result else None,
        "metrics": json.loads(result["metrics"]),
        "reason": result["reason"],
        "verdicts": verdicts,
        "diff": diff,
    }


def lines_of(report: dict[str, Any]) -> list[str]:
    """For people."""
    score = "none" if report["score"] is None else figures(report["score"], 6)
    parents = ", ".join(parent[:12] for parent in report["parents"]) or "none"
    lines = [
        f"{report['program_id']}",
        f"  project   {report['project']}, {report['state']}, made in cycle {report['cycle']} by "
        f"{report['operator']}",
        *([f"  idea      {report['idea']}"] if report["idea"] else []),
        f"  parents   {parents}",
        f"  score     {score}{'' if report['protected'] else ' (not protected)'}",
        f"  metrics   {rounded(json.dumps(report['metrics']))}",
    ]
    if report["simplified"]:
        lines.append(f"  shown     as simplified to {report['simplified']}")
    if report["reason"]:
        lines.append(f"  blocked   {report['reason']}")
    lines += [
        f"  gate      {row['gate']}: {row['outcome']} {row['rule_id']} {row['reason']}".rstrip()
        for row in report["verdicts"]
    ]
    return [*lines, "", report["diff"] or "it is the initial program"]
