"""What the prompts line says of its artifacts, and its row among the lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from evolake.contest import LEVEL, paired
from evolake.errors import InputError
from evolake.lake import Lake, following
from evolake.prompts.model.prompt import from_json
from evolake.prompts.report.material import LINE, population_entering
from evolake.prompts.report.story import SQL
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, Row, column_text
from evolake.report.gain import Gain
from evolake.report.numbers import counted
from evolake.report.standing import Ask, Standing
from evolake.seeds import generator
from evolake.stats import Interval


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


def write_checkpoint(lake: Lake, _artifact: Artifact, folder: Path, cycle: str) -> None:
    """checkpoint.safetensors: the policy's adapter at the end of the cycle, which the champion's figures were
    measured with."""
    sha = population_entering(lake, following(cycle)).value("checkpoint")
    if sha is None:
        raise InputError(
            f"after cycle {cycle} the weights are those of the base model: there is no checkpoint",
            do="leave --checkpoint out",
        )
    (folder / "checkpoint.safetensors").write_bytes(lake.blobs.get(sha))


def changed_principles(row: Row, parents: Sequence[Row]) -> str:
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
            text=column_text("text"),
            write=write_prompt,
            belongings=write_checkpoint,
            changed=changed_principles,
        )
    },
)
