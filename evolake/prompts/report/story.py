"""What only the prompts line knows of its cycle: the duel for the title, replies and updates, and the trend
on held-out problems."""

from __future__ import annotations

from dataclasses import replace

from evolake.report.gain import NONE_YET, NOT_SHOWN
from evolake.report.numbers import counted, share_interval
from evolake.report.questions import questions
from evolake.report.story import Ask, Row, Story, Trend, contests

SQL, PAGE = (questions("evolake.prompts.report", file) for file in ("story.sql", "page.sql"))
UNKNOWN = "unknown: the base model was evaluated on other problems"
ROOT_LEADS = f"{NONE_YET}: the first root leads, and the weights are those of the base model"


def story(summary: Story, ask: Ask) -> Story:
    """Return the cycle's duel, rollouts and updates."""
    trained, lost = ask(SQL["trained"])[0], [row for row in ask(SQL["duels"]) if not row["wins"]]
    live = ask(SQL["live"])[0]["live"]
    solved = [(row["cycle"], 100 * row["share"]) for row in ask(SQL["solved"])]
    no_gain = why_no_gain(summary.champion_id, ask(PAGE["start"])[0])
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
        goes_on=f"{counted(live, 'prompt')} so far, and the weights as they are now",
        look=_look(summary),
        trend=Trend("held-out problems solved", solved, "%"),
    )


def why_no_gain(champion_id: str, start: Row) -> str:
    """Return what to say if no gain was measured. start: the row of that question."""
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
