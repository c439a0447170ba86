"""The prompts line's row in the table of all lines."""

from __future__ import annotations

from dataclasses import replace

from evolake.lake import Lake
from evolake.report.standing import Ask, Standing


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with all replies that were judged: to train, in duels, and on held-out problems."""
    return replace(
        shared,
        start=shared.start or "the first root under the base model",
        evaluations=ask(COUNTED)[0]["replies"],
    )


COUNTED = """
SELECT ((SELECT coalesce(sum(rollouts), 0) FROM prompts.updates WHERE cycle <= $cycle)
  + (SELECT count(*) FROM prompts.duel_replies WHERE cycle <= $cycle)
  + (SELECT count(*) FROM prompts.heldout WHERE cycle <= $cycle))::INTEGER AS replies"""
