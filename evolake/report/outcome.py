"""A finished cycle in one plain sentence, for the user who watches it run: who leads, with what gain, and how
much of what was made was accepted."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import shorten
from typing import Any

from evolake.lake import Catalogue, Lake
from evolake.lake.schemas import ADDED_SEEDS
from evolake.report.artifacts import artifacts_of
from evolake.report.champion import Champion, champion_of
from evolake.report.gain import NONE_YET
from evolake.report.story import plural, story_of

NAMED = 8
"""New seeds of a cycle that are named; of more than these the others are counted."""
REASON = 100
STOPPED_BY = """
SELECT artifact_id, gate, rule_id FROM verdicts WHERE cycle <= $cycle AND outcome <> 'pass'
  AND artifact_id IN (
  SELECT unnest($wanted)) QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY cycle DESC, gate_no,
    outcome, rule_id) = 1"""


def outcome_of(lake: Lake, line: str, cycle: str) -> str:
    """Return what a finished cycle of a line came to, in the line's own words where it has some
    (`LineArtifacts.outcome`), and what became of new seeds.
    """
    return "; ".join(filter(None, [_came_to(lake, line, cycle), new_seeds(lake, line, cycle)]))


def new_seeds(lake: Lake, line: str, cycle: str) -> str:
    """Return what became of each seed that was added to the line and entered this cycle; "" if none did."""
    if lake.record(line, ADDED_SEEDS.name, cycle) is None:
        return ""
    seeds = lake.read(line, ADDED_SEEDS.name, cycle).sort("name").to_dicts()
    if not seeds:
        return ""
    with Catalogue(lake, shared_only=True) as catalogue:
        wanted = [row["artifact_id"] for row in seeds if row["artifact_id"]]
        stopped = {
            row["artifact_id"]: row
            for row in catalogue.frame(STOPPED_BY, {"cycle": cycle, "wanted": wanted}).to_dicts()
        }
    parts = [f"{row['name']} {_became(row, stopped.get(row['artifact_id']))}" for row in seeds[:NAMED]]
    more = [f"{len(seeds) - NAMED} more (evolake seeds list --line {line})"] if len(seeds) > NAMED else []
    return f"new seed{'' if len(seeds) == 1 else 's'}: {', '.join([*parts, *more])}"


def _became(seed: Mapping[str, Any], verdict: Mapping[str, Any] | None) -> str:
    """Return "accepted", "there already", or why it is neither. verdict: the first that is against it; None
    if no gate was reached."""
    if seed["state"] != "blocked":
        return "accepted" if seed["state"] == "accepted" else "was there already"
    reason = shorten(seed["reason"] or "", REASON, placeholder=" ...")
    return (
        f"blocked at the gate {verdict['gate']} by {verdict['rule_id']} ({reason})"
        if verdict
        else f"blocked before the gates ({reason})"
    )


def _came_to(lake: Lake, line: str, cycle: str) -> str:
    with Catalogue(lake) as catalogue:
        if own := artifacts_of(line).outcome:
            return own(catalogue, cycle)
        champion = champion_of(lake, catalogue, line, cycle)
    story = story_of(lake, line, cycle)
    accepted = f"{story.passed} of {story.made} new {plural(story.noun)} accepted"
    return f"{_leads(champion, line)}; {accepted}" if champion else accepted


def _leads(champion: Champion, line: str) -> str:
    """Return who leads, by how much."""
    text = f"champion {champion.title} ({champion.artifact_id[:8]})"
    if champion.gain is None:
        measure, _, better = artifacts_of(line).score.partition(", ")
        score = (
            f", {measure} {champion.score:.2f}{f' ({better})' if better else ''}"
            if champion.score is not None
            else ""
        )
        return f"{text}{score}, gain: {NONE_YET}"
    return f"{text}, {champion.gain.brief}"
