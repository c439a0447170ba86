"""Say what the accepted families are and what they lack: lines for a prompt, and a direction for each request
of a generation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evolake.families.model.contract import ANSWER_TYPES, CATEGORIES, Family

MOST_TITLES = 25
"""Titles of one category that a line shows, the newest."""
LONGEST_TITLE = 60
NO_DIRECTION = ("any", "boolean")
"""Types of answers that nobody is sent after: a guess of yes or no is right half of the time."""


def corpus_lines(accepted: Sequence[Family]) -> list[str]:
    """Return a line for each category that has families: their number, and titles with the type of the
    answer."""
    lines: list[str] = []
    for category in CATEGORIES:
        families = [family for family in accepted if family.category == category]
        shown = "; ".join(
            f"{family.title[:LONGEST_TITLE]} ({family.answer.type})" for family in families[-MOST_TITLES:]
        )
        more = f"; and {len(families) - MOST_TITLES} older ones" if len(families) > MOST_TITLES else ""
        lines += [f"{category}, {len(families)}: {shown}{more}"] if families else []
    return lines


def directions(accepted: Sequence[Family]) -> list[str]:
    """Return what the corpus lacks, the rarest first: a category with a type of answer, each once, so that
    siblings get different ones.

    Of pairs that are as rare, those of rarer categories and types come first.
    """
    pairs = Counter((family.category, family.answer.type) for family in accepted)
    categories, types = (
        Counter(family.category for family in accepted),
        Counter(family.answer.type for family in accepted),
    )
    wanted = [
        (category, kind)
        for category in CATEGORIES
        if category != "other"
        for kind in ANSWER_TYPES
        if kind not in NO_DIRECTION
    ]
    ordered = sorted(wanted, key=lambda pair: (pairs[pair], categories[pair[0]] + types[pair[1]], pair))
    return [
        f"a kind of task that no accepted family has, if it can be: {category} reasoning, an answer of "
        f"type {kind} ({pairs[category, kind]} of {len(accepted)} accepted families have both)"
        for category, kind in ordered
    ]
