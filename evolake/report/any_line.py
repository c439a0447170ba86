"""The section of a line that has no page of its own: what the shared tables say of it."""

from __future__ import annotations

from pathlib import Path

from evolake.lake import Catalogue, Lake
from evolake.report.pages import Section, render, sentence

CHAMPION = """
SELECT c.artifact_id, c.cycle, c.score, any_value(a.title) AS title FROM champions AS c JOIN known_artifacts AS a USING (artifact_id)
WHERE c.line = $line AND c.cycle <= $cycle GROUP BY ALL ORDER BY c.cycle DESC LIMIT 1"""
STATES = """
SELECT cycle, count(DISTINCT artifact_id) AS made, count(DISTINCT artifact_id) FILTER (state = 'blocked') AS blocked
FROM artifacts WHERE line = $line AND state NOT IN ('champion', 'retired') AND cycle <= $cycle GROUP BY cycle ORDER BY cycle"""
FUNNEL = "SELECT * FROM funnel($line) WHERE cycle <= $cycle"
BLOCKED = """
SELECT gate, rule_id, count(DISTINCT artifact_id) AS blocked, min(reason) AS example FROM verdicts JOIN known_artifacts AS known USING (artifact_id)
WHERE known.line = $line AND outcome = 'block' AND verdicts.cycle <= $cycle GROUP BY ALL ORDER BY blocked DESC, gate, rule_id"""
CALLS = """
SELECT role, backend, coalesce(model, '') AS model, count(*) AS calls, sum(input_tokens + output_tokens) AS tokens, sum(usd) AS usd
FROM calls WHERE line = $line AND cycle <= $cycle GROUP BY ALL ORDER BY role, backend, model"""
ANCESTRY = "SELECT cycle, artifact_id, state, title FROM ancestors($id) WHERE cycle <= $cycle ORDER BY cycle, artifact_id"


def any_section(root: Path, line: str, cycle: str) -> Section:
    """Champion where the line has one, gates, blocks, calls, ancestry; no figures."""
    with Catalogue(Lake(root)) as catalogue:
        given = {"line": line, "cycle": cycle}
        champion = next(iter(catalogue.frame(CHAMPION, given).to_dicts()), None)
        tables = {
            "Made a cycle": catalogue.frame(STATES, given), "Gates": catalogue.frame(FUNNEL, given),
            "What was blocked, and by which rule": catalogue.frame(BLOCKED, given), "Calls": catalogue.frame(CALLS, given),
        }
        if champion:
            tables["Ancestry of the champion"] = catalogue.frame(ANCESTRY, {"id": champion["artifact_id"], "cycle": cycle})
    headline = sentence("evolake.report", "any_headline.html.j2", line=line, cycle=cycle, champion=champion)
    body = render("evolake.report", "any_line.html.j2", line=line, cycle=cycle, headline=headline, tables=tables)
    return Section(line, cycle, headline, body, {})
