"""The programs line's row in the table of all lines: the held-out score of each project's champion and of its
initial program."""

from __future__ import annotations

from dataclasses import replace

from evolake.lake import Lake
from evolake.programs.report.decisions import DECIDED, Row
from evolake.programs.report.story import RUNS
from evolake.report.gain import figures
from evolake.report.standing import Ask, Standing


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with the scores of all projects, by name."""
    decided = [row for row in ask(DECIDED) if row["holder_mean"] is not None]
    best, start = (
        "; ".join(_score(row, column) for row in decided) for column in ("holder_mean", "initial_mean")
    )
    return replace(
        shared, best=best or shared.best, start=start or shared.start, evaluations=ask(COUNTED)[0]["runs"]
    )


def _score(row: Row, column: str) -> str:
    return (
        f"{row['project']}: {row['score_name']} "
        f"{'unknown' if row[column] is None else figures(row[column], 6)}"
    )


COUNTED = f"SELECT count(*)::INTEGER AS runs FROM ({RUNS}) WHERE cycle <= $cycle"
