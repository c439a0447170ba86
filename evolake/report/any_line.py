"""The section of a line that has no page: what the shared tables say of it."""

from __future__ import annotations

from pathlib import Path

from evolake.lake import Catalogue, Lake
from evolake.report.champion import ANCESTRY, champion_of
from evolake.report.pages import Section, render, sentence

STATES = """
SELECT cycle, count(DISTINCT artifact_id) AS made, count(DISTINCT artifact_id)
  FILTER (state = 'blocked') AS blocked
FROM artifacts WHERE line = $line AND state NOT IN ('champion', 'retired') AND cycle <= $cycle GROUP BY cycle
  ORDER BY cycle"""
FUNNEL = "SELECT * FROM funnel($line) WHERE cycle <= $cycle"
BLOCKED = """
SELECT gate, rule_id, count(DISTINCT artifact_id) AS blocked, min(reason) AS example FROM verdicts
  JOIN known_artifacts AS known USING (artifact_id)
WHERE known.line = $line AND outcome = 'block' AND verdicts.cycle <= $cycle GROUP BY ALL
  ORDER BY blocked DESC, gate, rule_id"""
CALLS = """
SELECT role, backend, coalesce(model, '') AS model, count(*) AS calls,
  sum(input_tokens + output_tokens) AS tokens, sum(usd) AS usd
FROM calls WHERE line = $line AND cycle <= $cycle GROUP BY ALL ORDER BY role, backend, model"""


def any_section(root: Path, line: str, cycle: str) -> Section:
    """Return champion where the line has one, gates, blocks, calls, ancestry; no figures."""
    lake = Lake(root)
    with Catalogue(lake) as catalogue:
        given = {"line": line, "cycle": cycle}
        champion = champion_of(lake, catalogue, line, cycle)
        tables = {
            "Made a cycle": catalogue.frame(STATES, given),
            "Gates": catalogue.frame(FUNNEL, given),
            "What was blocked, and by which rule": catalogue.frame(BLOCKED, given),
            "Calls": catalogue.frame(CALLS, given),
        }
        if champion:
            tables["Ancestry of the champion"] = catalogue.frame(ANCESTRY, {"id": champion.artifact_id})
    headline = sentence("evolake.report", "any_headline.html.j2", line=line, cycle=cycle, champion=champion)
    body = render(
        "evolake.report", "any_line.html.j2", line=line, cycle=cycle, headline=headline, tables=tables
    )
    return Section(line, cycle, headline, body, {})
