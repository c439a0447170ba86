"""The section of a line that has no page of its own: what the shared tables say of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evolake.lake import Catalogue, Lake
from evolake.report.html import Section, esc, section

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
        champions = catalogue.frame(CHAMPION, given).to_dicts()
        tables = {
            "Made a cycle": catalogue.frame(STATES, given), "Gates": catalogue.frame(FUNNEL, given),
            "What was blocked, and by which rule": catalogue.frame(BLOCKED, given), "Calls": catalogue.frame(CALLS, given),
        }
        ancestry = catalogue.frame(ANCESTRY, {"id": champions[0]["artifact_id"], "cycle": cycle}) if champions else pl.DataFrame()
    headline = f"Cycle {cycle} of {esc(line)} is finished; this line crowns no champion."
    if champions:
        first = champions[0]
        headline = f"The champion is <b>{esc(first['title'])}</b> (<code>{first['artifact_id'][:12]}</code>), as of cycle {first['cycle']}."
        tables["Ancestry of the champion"] = ancestry
    parts = [f"<h1>Cycle {cycle} of the {esc(line)} line</h1>", f'<p class="lead">{headline}</p>']
    return Section(line, cycle, headline, [*parts, *(section(title, frame) for title, frame in tables.items())], {})
