"""One family of the lake, and every attempt at one: idea, outcome, what the gates said, and who made it."""

from __future__ import annotations

from typing import Any

from evolake.families.tables_faults import TABLES
from evolake.lake import Catalogue, Lake

LINE = "families"

SHORTEST = 8
"""Digits of an id that name a family at least."""
ATTEMPTS = (
    "SELECT cycle, number, family_id, operator, title, idea, outcome, reason FROM families.ideas ORDER BY "
    "cycle, number"
)
FAMILY = """
SELECT family_id, state, cycle, title, category, language, operator, origin, parents, instances, gate,
  rule_id, reason
FROM (
  SELECT 1 AS place, family_id, state, cycle, title, category, language, operator, origin, parents,
    instances, gate, rule_id, reason
  FROM families.candidates WHERE starts_with(family_id, $id)
  UNION ALL
  SELECT 0, family_id, state, cycle, title, category, language, operator, origin, parents, instances, gate,
    rule_id, reason
  FROM families.incoming_families WHERE starts_with(family_id, $id)
)
QUALIFY row_number() OVER (PARTITION BY family_id ORDER BY place, cycle DESC) = 1
"""
"""Families whose id begins so, as the newest population has them, and those that were only candidates."""
VERDICTS = (
    "SELECT cycle, gate_no, gate, rule_id, outcome, reason FROM verdicts WHERE artifact_id = $id ORDER BY "
    "cycle, gate_no, rule_id"
)
IDEAS = "SELECT idea, outcome, reason FROM families.ideas WHERE family_id = $id ORDER BY cycle DESC, number"


def _catalogue(lake: Lake) -> Catalogue:
    """Return the catalogue, with empty tables where a lake has no families yet."""
    return Catalogue(lake, {(LINE, name): schema for name, schema in TABLES.items()})


def attempts(lake: Lake) -> list[dict[str, Any]]:
    """Return rows of IDEAS of all cycles, the oldest first."""
    with _catalogue(lake) as catalogue:
        return catalogue.frame(ATTEMPTS).to_dicts()


def family_report(lake: Lake, wanted: str) -> dict[str, Any] | None:
    """Return what is known of a family, by its id or the beginning of it; None if no family, or more than
    one, begins so."""
    if len(wanted) < SHORTEST:
        return None
    with _catalogue(lake) as catalogue:
        found = catalogue.frame(FAMILY, {"id": wanted}).to_dicts()
        if len(found) != 1:
            return None
        name = {"id": found[0]["family_id"]}
        ideas, verdicts = catalogue.frame(IDEAS, name).to_dicts(), catalogue.frame(VERDICTS, name).to_dicts()
    return found[0] | {"idea": ideas[0]["idea"] if ideas else None, "verdicts": verdicts}


def attempt_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each attempt, for people."""
    return [
        f"{row['cycle']}  {(row['family_id'] or '')[:12]:12}  {row['outcome']:8}  "
        f"{row['title'] or row['operator']}"
        + (f": {row['idea']}" if row["idea"] else "")
        + (f" ({row['reason']})" if row["reason"] else "")
        for row in rows
    ]


def family_lines(report: dict[str, Any]) -> list[str]:
    """Return a family in lines, for people."""
    parents = ", ".join(parent[:12] for parent in report["parents"] or ()) or "none"
    instances = "" if report["instances"] is None else f", {report['instances']} instances"
    lines = [
        report["family_id"],
        f"  title     {report['title']} ({report['category']}, {report['language']})",
        f"  state     {report['state']}, made in cycle {report['cycle']} by {report['origin']}, "
        f"{report['operator']}{instances}",
        *([f"  idea      {report['idea']}"] if report["idea"] else []),
        f"  parents   {parents}",
        *([f"  blocked   {report['gate']}: {report['reason']}"] if report["reason"] else []),
    ]
    return [
        *lines,
        *(
            f"  gate      {row['gate']}: {row['outcome']} {row['rule_id']} {row['reason'] or ''}".rstrip()
            for row in report["verdicts"]
        ),
    ]
