"""What only the prompts line knows of its cycle: the duel for the title, replies and updates, and the trend
on held-out problems."""

from __future__ import annotations

from dataclasses import replace

from evolake.report.gain import NONE_YET, NOT_SHOWN
from evolake.report.numbers import counted, share_interval
from evolake.report.story import Ask, Row, Story, Trend, contests

UNKNOWN = "unknown: the base model was evaluated on other problems"
ROOT_LEADS = f"{NONE_YET}: the first root leads, and the weights are those of the base model"


def story(summary: Story, ask: Ask) -> Story:
    """Return the cycle's duel, rollouts and updates."""
    trained, lost = ask(TRAINED)[0], [row for row in ask(DUELS) if not row["wins"]]
    no_gain = why_no_gain(summary.champion_id, ask(START)[0])
    return replace(
        summary,
        noun="prompt",
        gain=summary.gain or no_gain,
        short_gain=summary.short_gain or no_gain,
        duel=_duel(lost[0]) if lost else "",
        contests=contests(ask, "prompts.champion"),
        measured=f"{counted(trained['rollouts'], 'reply', 'replies')}, {trained['correct']:,} correct, "
        f"{trained['updated']} of {counted(trained['iterations'], 'iteration')} changed the weights"
        if trained["iterations"]
        else "",
        goes_on=f"{counted(ask(LIVE)[0]['live'], 'prompt')} so far, and the weights as they are now",
        look=_look(summary),
        trend=Trend(
            "held-out problems solved", [(row["cycle"], 100 * row["share"]) for row in ask(SOLVED)], "%"
        ),
    )


def why_no_gain(champion_id: str, start: Row) -> str:
    """Return what to say if no gain was measured. start: the row of START."""
    return ROOT_LEADS if champion_id == start["root"] and not start["updates"] else UNKNOWN


def _duel(row: Row) -> str:
    ends = share_interval(row["difference"], row["low"], row["high"])
    duel = f"{ends} in the duel on {row['problems']} problems, and the whole interval must be above 0"
    return f"the best rated, {row['challenger_id'][:12]}, did not become champion: {duel}"


def _look(summary: Story) -> str:
    if NOT_SHOWN in summary.gain:
        return (
            "more held-out problems (EVOLAKE_PROMPTS__HELDOUT_PROBLEMS) narrow the interval, more cycles "
            "train longer: evolake run --lines prompts"
        )
    return summary.look


START = """
SELECT (SELECT any_value(prompt_id) FROM prompts.heldout WHERE cycle = '0001' AND iteration = 0) AS root,
  (SELECT count(*) FROM prompts.updates WHERE updated AND cycle <= $cycle) AS updates"""
TRAINED = """
SELECT count(*) AS iterations, count(*) FILTER (updated) AS updated, coalesce(sum(rollouts),
  0)::INTEGER AS rollouts,
  coalesce(sum(correct), 0)::INTEGER AS correct FROM prompts.updates WHERE cycle = $cycle"""
DUELS = "SELECT * FROM prompts.champion WHERE cycle = $cycle ORDER BY challenger_id"
LIVE = (
    "SELECT count(DISTINCT artifact_id) AS live FROM artifacts WHERE line = 'prompts' AND state <> "
    "'blocked' AND cycle <= $cycle"
)
SOLVED = """
SELECT h.cycle, avg(h.correct::INTEGER) AS share FROM prompts.heldout AS h
JOIN champions ON champions.line = 'prompts' AND champions.cycle = h.cycle
  AND champions.artifact_id = h.prompt_id
WHERE h.cycle <= $cycle AND h.iteration > 0 GROUP BY h.cycle ORDER BY h.cycle"""
