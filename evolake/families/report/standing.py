"""The families line's row in the table of all lines: it has no champion, so its best is how many families
passed every gate."""

from __future__ import annotations

from dataclasses import replace

from evolake.lake import Lake
from evolake.report.gain import counted
from evolake.report.standing import Ask, Standing


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with the seeds that passed as its start, and the versions of families that came to the
    gates as its evaluations."""
    seeds, versions = ask(SEEDS)[0], ask(JUDGED)[0]["versions"]
    start = counted(seeds["accepted"], "seed family", "seed families")
    return replace(shared, start=start, evaluations=seeds["judged"] + versions)


SEEDS = (
    "SELECT count(*)::INTEGER AS judged, (count(*) FILTER (state = 'accepted'))::INTEGER AS accepted FROM "
    "families.seeds"
)
JUDGED = "SELECT count(*)::INTEGER AS versions FROM families.candidates WHERE cycle <= $cycle"
