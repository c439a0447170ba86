"""The designs line's row in the table of all lines: median work of the champion and of the baseline, and how
many runs that took."""

from __future__ import annotations

from dataclasses import replace

from evolake.designs.report.story import RUNS
from evolake.lake import Lake
from evolake.report.numbers import figures
from evolake.report.standing import Ask, Standing

BASELINE = "the baseline dynamics"


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with the work that both sides took at the size of their duel."""
    runs = ask(COUNTED)[0]["runs"]
    work = {
        row[
            "is_champion"
        ]: f" ({'' if row['solved'] else 'at least '}{figures(row['work'], 4)} median work in steps of the "
        f"baseline at N={row['N']})"
        for row in ask(WORK)
    }
    if shared.estimate is None:
        return replace(shared, start=BASELINE, evaluations=runs)
    return replace(
        shared, best=shared.best + work.get(True, ""), start=BASELINE + work.get(False, ""), evaluations=runs
    )


COUNTED = f"SELECT count(*)::INTEGER AS runs FROM ({RUNS}) WHERE cycle <= $cycle"
WORK = """
SELECT trials.design_id = decided.challenger_id AS is_champion, any_value(trials.N) AS N,
  bool_and(trials.solved) AS solved,
  median(trials.work_per_step * CASE WHEN trials.solved THEN trials.median_step
    WHEN trials.timed_out THEN trials.steps_run
    ELSE trials.max_steps END) AS work
FROM designs.champion_trials AS trials JOIN designs.champion_decisions AS decided
  ON decided.cycle = trials.cycle AND decided.comparison = 'baseline' AND decided.N = trials.N
WHERE trials.cycle = $cycle AND trials.design_id IN (decided.challenger_id,
  decided.incumbent_id) GROUP BY ALL"""
