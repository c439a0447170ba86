"""What a whole search may claim: how many contests it held, and how many false champions that lets expect at
most."""

from __future__ import annotations

from evolake.contest.model import ERROR


def expected_false(contests: int) -> float:
    """Return the largest expected number of false promotions in so many contests, however they depend on each
    other."""
    return contests * ERROR


def family_sentence(contests: int, won: int) -> str:
    """Return the family-wise statement of a search as one sentence; "" if it held no contest."""
    if not contests:
        return ""
    held = f"{contests:,} contest{'' if contests == 1 else 's'} so far, {won:,} won"
    return (
        f"{held}; at {100 * ERROR:g} % each, at most {expected_false(contests):.2g} false promotions are "
        "expected"
    )
