"""One program of the lake: what it is, what it scored, what gates said, and how it differs from where its
project began."""

from __future__ import annotations

import json
from typing import Any

from evolake.lake import Catalogue, Lake
from evolake.programs.report.material import LINE, population_entering
from evolake.programs.report.page import diff_of
from evolake.report.gain import figures
from evolake.report.show import rounded

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
