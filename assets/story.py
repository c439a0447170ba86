"""The page of a cycle: the external asset `<line>/story`, which a person opens from the group, from a run or
from any asset of the line.

It has no table, so that its page begins with what the cycle found. The closing asset writes it when it seals
the population of the next cycle, as a materialization of the cycle that ends, and gives the run the same in
one sentence as a tag, which the list of runs shows.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import dagster as dg

from assets.line import DATA_DOCS, Line
from assets.shown import in_a_cell, markdown, table
from evolake.errors import LakeError
from evolake.lines import lines
from evolake.settings import load

if TYPE_CHECKING:
    from evolake.lake import Lake
    from evolake.report.story import Story

RULES_APPLIED = "rules applied"
"""Metadata of a page: how far edited rules are applied; absent where they are, in all cycles or in none."""
FOUND_TAG = "evolake/found"
"""Tag of a run that sealed a cycle: what it found, in one sentence."""
LONGEST_TAG, LONGEST_REASON = 150, 100


def story_page(
    store: Lake, line: Line, cycle: str, run_id: str, warn: Callable[[str], object]
) -> tuple[dict[str, Any], str]:
    """Return the page of the cycle that ends, as metadata, and what it found in one sentence.

    A damaged table of any line, or words of a candidate that cannot be shown, are no reason to lose the
    cycle: the page and a warning say so.
    """
    page, found = _summary(store, line, cycle, warn)
    links: dict[str, Any] = {
        "run": dg.MetadataValue.dagster_run(run_id),
        line.closing: dg.MetadataValue.asset(line.key(line.closing)),
        "data docs": dg.MetadataValue.url(f"{DATA_DOCS}/{line.name}/{cycle}/index.html"),
        "report": f"evolake report --lines {line.name} --out report.html",
        "tables": dg.MetadataValue.path(f"tables/{line.name}"),  # pyright: ignore[reportUnknownMemberType]
    }
    return page | links, found


def _summary(
    store: Lake, line: Line, cycle: str, warn: Callable[[str], object]
) -> tuple[dict[str, Any], str]:
    """Return the first half of the page, and the sentence."""
    from evolake.gates.boundary import Raised, contained

    if line.name not in lines():
        text = (
            f"- **Cycle {cycle}** of {line.name} is sealed. No installed package registers the line, so "
            "nothing more is known."
        )
        return {"story": markdown(text)}, ""

    def of(ended: str) -> tuple[dict[str, Any], str]:
        return _of(store, line, ended)

    try:
        made = contained(of, cycle)
    except LakeError as damage:
        trouble = f"{damage}. Run: evolake lake verify"
    else:
        if not isinstance(made, Raised):
            return made
        trouble = f"{made.error} at {made.place}: {made.message}"
    text = f"The story of cycle {cycle} cannot be read: {trouble}"
    warn(f"WARN: {text[0].lower()}{text[1:]}")
    return {"story": markdown(text)}, ""


def _of(store: Lake, line: Line, cycle: str) -> tuple[dict[str, Any], str]:
    from evolake.report.story import markdown as as_markdown
    from evolake.report.story import picture, story_of

    story = story_of(store, line.name, cycle, closing=True)
    page: dict[str, Any] = {"story": markdown(as_markdown(story))} | rules_applied(store, line)
    if trend := picture(story.trend):
        page["trend"] = markdown(trend)
    if story.gates:
        rows = [
            {
                "gate": gate.name,
                "came": gate.came,
                "stopped": gate.stopped,
                "passed": gate.came - gate.stopped,
            }
            for gate in story.gates
        ]
        page["gates"] = table({"gate": "string", "came": "int", "stopped": "int", "passed": "int"}, rows)
    if story.blocks:
        reasons = [(block, shorten(block.reason, LONGEST_REASON, placeholder=" …")) for block in story.blocks]
        rows = [
            {"rule": block.rule, "stopped": block.stopped, "for example": reason} for block, reason in reasons
        ]
        page["rules"] = table({"rule": "string", "stopped": "int", "for example": "string"}, rows)
    return page, found_in(story)


def log_elsewhere(store: Lake, line: Line, cycle: str) -> list[str]:
    """Write a cycle that has just been sealed to the logs of the settings; return a sentence for each log
    that has not got it."""
    if not any((logs := load().logs).model_dump().values()) or line.name not in lines():
        return []
    from evolake.report.logs import log_at_end

    return log_at_end(store, line.name, cycle, logs)


def rules_applied(store: Lake, line: Line) -> dict[str, Any]:
    """Return the entry of a page on rules that are half applied; nothing where they are not.

    Raises:
        LakeError: a table that it needs is damaged.
    """
    from evolake.lake import Catalogue
    from evolake.report.rules_applied import half_applied
    from evolake.report.story import as_text

    with Catalogue(store, shared_only=True) as catalogue:
        half = half_applied(store, catalogue, line.name, load().seeds / "rules")
    return {RULES_APPLIED: markdown(as_text(half))} if half else {}


def found_in(story: Story) -> str:
    """Return what a cycle found in one sentence: who leads and by how much, and how many candidates
    passed."""
    leads = (
        f"{story.champion}: {story.short_gain or story.gain or 'gain not measured'}"
        if story.champion
        else story.leads
    )
    return shorten(
        in_a_cell("; ".join(filter(None, [leads, f"{story.passed} of {story.made} passed"]))),
        LONGEST_TAG,
        placeholder=" …",
    )
