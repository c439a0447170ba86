"""A finished cycle in one plain sentence, for whoever watches it run: who leads, with what gain, and how much of what was made was accepted."""

from __future__ import annotations

from evolake.lake import Catalogue, Lake
from evolake.report.artifacts import artifacts_of
from evolake.report.champion import Champion, champion_of
from evolake.report.story import plural, story_of

LENGTH = 44


def outcome_of(lake: Lake, line: str, cycle: str) -> str:
    """What a finished cycle of a line came to, in the line's own words where it has some (`LineArtifacts.outcome`)."""
    with Catalogue(lake) as catalogue:
        if own := artifacts_of(line).outcome:
            return own(catalogue, cycle)
        champion = champion_of(lake, catalogue, line, cycle)
    story = story_of(lake, line, cycle)
    accepted = f"{story.passed} of {story.made} new {plural(story.noun)} accepted"
    return f"{_leads(champion, line)}; {accepted}" if champion else accepted


def _leads(champion: Champion, line: str) -> str:
    """Who leads, by how much."""
    from evolake.plots.style import short

    told = f"champion {short(champion.title, LENGTH)} ({champion.artifact_id[:8]})"
    if champion.gain is None:
        score = f" with {artifacts_of(line).score.partition(',')[0]} {champion.score:.2f}" if champion.score is not None else ""
        return f"{told}{score}, no gain yet"
    gain = champion.gain
    return f"{told}, {gain.figure} {gain.measure} than {gain.against} ({gain.spread}{'' if gain.beyond_noise else '; not beyond the noise'})"
