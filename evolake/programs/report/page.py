"""The programs line's part of the page: champions, what protected their scores, what was tried and blocked,
figures; and one program: what it scored, what gates said, how it differs from where its project began."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from evolake.lake import Catalogue, Lake, following
from evolake.programs.evolution.population import texts_of
from evolake.programs.report.material import LINE, material_of, population_entering
from evolake.programs.report.story import improves, score_in_words
from evolake.report.finished_cycle import read_cycle
from evolake.report.numbers import figures
from evolake.report.pages import Section, section
from evolake.report.questions import questions
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
            material.population.champion(row["project"])["files_sha"],
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


def details_of(lake: Lake, wanted: str) -> dict[str, Any] | None:
    """Return what is known of a program, by its id, the beginning of it, or its project's name for the
    champion; None if there is none."""
    cycles = lake.cycles(LINE, "incoming_programs")
    if not cycles:
        return None
    population = population_entering(lake, cycles[-1])
    rows = population.rows()
    if wanted in {row["project"] for row in rows}:
        result = population.champion(wanted)
    else:
        chosen = (
            [row for row in rows if row["program_id"].startswith(wanted)] if len(wanted) >= SHORTEST else []
        )
        if len(chosen) != 1:
            return None
        result = chosen[0]
    with Catalogue(lake) as catalogue:
        verdicts = catalogue.frame(VERDICTS, {"id": result["program_id"]}).to_dicts()
    details = {name: result[name] for name in FACTS}
    diff = diff_of(lake, population.initial(result["project"])["files_sha"], result["files_sha"])
    return details | {
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
    if report["reason"]:
        lines.append(f"  blocked   {report['reason']}")
    lines += [
        f"  gate      {row['gate']}: {row['outcome']} {row['rule_id']} {row['reason']}".rstrip()
        for row in report["verdicts"]
    ]
    return [*lines, "", report["diff"] or "it is the initial program"]
