"""The solvers line's row in the table of all lines."""

from __future__ import annotations

from dataclasses import replace

from evolake.lake import Lake
from evolake.report.standing import Ask, Standing
from evolake.solvers.report.story import ALL_RUNS


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with all measured runs. Without a gain the line still has the seed that it started
    from."""
    return replace(shared, start=shared.start or shared.best, evaluations=ask(COUNTED)[0]["runs"])


COUNTED = f"SELECT count(*)::INTEGER AS runs FROM ({ALL_RUNS}) WHERE cycle <= $cycle"
