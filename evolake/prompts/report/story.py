"""What only the prompts line knows of its cycle: the duel for the title, replies and updates, and the trend
on held-out problems.

What the prompts line says of its artifacts, and its row among the lines.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from evolake import settings as settings_module
from evolake.contest import LEVEL, paired
from evolake.errors import InputError
from evolake.lake import Lake, following
from evolake.prompts.model.prompt import from_json
from evolake.prompts.report.material import LINE, population_entering
from evolake.prompts.settings import PromptsSettings
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, column_text
from evolake.report.finished_cycle import questions
from evolake.report.gain import NONE_YET, NOT_SHOWN, Gain
from evolake.report.numbers import counted, share_interval
from evolake.report.standing import Ask, Standing
from evolake.report.story import Row, Story, Trend, contests
from evolake.seeds import generator
from evolake.stats import Interval

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


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with all replies that were judged: to train, in duels, and on held-out problems."""
    return replace(
        shared,
        start=shared.start or "the first root under the base model",
        evaluations=ask(SQL["counted"])[0]["replies"],
    )


def gain_of(lake: Lake, artifact_id: str, cycle: str, _since: str) -> Gain | None:
    """Return champion and weights at the end of the cycle against the first root under the base model, on the
    held-out problems that both answered; None if there are none, or if the champion is that root and the
    weights are still those of the base model: nothing is compared with itself."""
    population = population_entering(lake, following(cycle))
    if artifact_id == population.rows()[0]["prompt_id"] and population.value("checkpoint") is None:
        return None
    heldout = lake.read(LINE, "heldout", cycle)
    now = _shares(
        heldout.filter((pl.col("prompt_id") == artifact_id) & (pl.col("iteration") == population.iteration))
    )
    return gain_between(now, _shares(base_evaluation(lake)), population.rows()[0]["prompt_id"], cycle)


def gain_between(
    now: Mapping[str, float], start: Mapping[str, float], root_id: str, cycle: str
) -> Gain | None:
    """Return the gain over the first root; None if no problem was answered by both.

    now, start: problem -> share of correct replies, of the champion with the weights at the end of the cycle
    and of the first root under the base model.
    """
    both = sorted(set(now) & set(start))
    if not both:
        return None
    contest = paired([now[name] - start[name] for name in both], generator(0, LINE, "0000", "headline", 0))
    gained = Interval(contest.effect, contest.low, contest.high, LEVEL)
    own, other = (sum(side[name] for name in both) / len(both) for side in (now, start))
    return Gain(
        gained,
        "more correct replies",
        root_id,
        f"on {len(both)} held-out problems: {own:.1%} with the weights as they are now, {other:.1%} before",
        cycle,
        contest.wins,
        against="the first root under the base model",
        is_ratio=False,
        own=own,
        other=other,
        count=counted(len(both), "problem"),
    )


def base_evaluation(lake: Lake) -> pl.DataFrame:
    """Return rows of EVALUATIONS of the base model under the first root."""
    return lake.read(LINE, "heldout", "0001").filter(pl.col("iteration") == 0)


def _shares(rows: pl.DataFrame) -> dict[str, float]:
    """Return problem -> share of its replies that are correct."""
    return dict(rows.group_by("problem_id").agg(pl.col("correct").mean()).iter_rows())


def write_prompt(_lake: Lake, artifact: Artifact, folder: Path) -> str:
    """prompt.txt, what a model reads, and principles.json, which the id is the hash of."""
    (folder / "prompt.txt").write_text(artifact.row["text"], encoding="utf-8")
    (folder / "principles.json").write_text(
        json.dumps(json.loads(artifact.row["principles"]), indent=1, ensure_ascii=False) + "\n",
        encoding="utf-8",
    )
    return ""


def write_weights(
    lake: Lake, artifact: Artifact, folder: Path, cycle: str, models: Collection[str]
) -> tuple[str, Sequence[str]]:
    """Write the policy at the end of the cycle, which the champion's figures were measured with, and its
    greedy replies to held-out problems; nothing of a policy behind an endpoint."""
    from evolake.prompts.policies.adapter import REPLY, card, reply_settings, write_policy
    from evolake.prompts.policies.registry import model_cache

    population = population_entering(lake, following(cycle))
    own = settings_module.load().of(PromptsSettings)
    replied = reply_settings(own) | population.value(REPLY, {})
    if replied["policy"] == "endpoint":
        if models:
            raise InputError(
                "a policy behind an endpoint has no weights here", do="leave --merge and --base out"
            )
        return "", ()
    sha, text = population.value("checkpoint"), artifact.row["text"]
    rows = lake.record(LINE, "heldout", cycle)
    stored = rows is not None and replied.get("greedy") and not replied["tools"]
    replies = _replies(lake, cycle, population.iteration, artifact.artifact_id) if stored else []
    written = write_policy(
        folder,
        lake.blobs.get(sha) if sha else None,
        replied,
        own.policy_model,
        text,
        replies,
        model_cache(lake.root),
        models=models,
    )
    return card(written, replied, len(replies))


def _replies(lake: Lake, cycle: str, iteration: int, prompt_id: str) -> list[dict[str, Any]]:
    """Return question, reply and correct of a prompt's held-out replies after an iteration."""
    problems = lake.read(LINE, "problems", cycle).select("problem_id", question="text")
    rows = lake.read(LINE, "heldout", cycle).join(problems, on="problem_id")
    own = rows.filter((pl.col("prompt_id") == prompt_id) & (pl.col("iteration") == iteration))
    return own.sort("problem_id").select("question", "reply", "correct").to_dicts()


def changed_principles(row: Mapping[str, Any], parents: Sequence[Mapping[str, Any]]) -> str:
    """Return what it says that no parent says, and what its first parent says and it does not."""
    own = from_json(row["principles"]).texts
    before = [from_json(parent["principles"]).texts for parent in parents]
    gained = [text for text in own if not any(text in texts for texts in before)]
    lost = [text for text in before[0] if text not in own] if before else []
    return "; ".join([*(f"adds: {text}" for text in gained), *(f"drops: {text}" for text in lost)])


ARTIFACTS = LineArtifacts(
    gain=gain_of,
    standing=standing,
    score="share of correct held-out replies",
    kinds={
        "system prompt": Kind(
            "prompt_id",
            ("incoming_prompts", "seeds"),
            ("operator", "origin", "iteration", "size", "mu", "sigma", "rounds"),
            score="mu",
            higher_is_better=lambda _lake, _row: True,
            text=column_text("text"),
            write=write_prompt,
            belongings=write_weights,
            changed=changed_principles,
        )
    },
)
