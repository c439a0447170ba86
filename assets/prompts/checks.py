"""The multi-gate guard of the prompts line: blocking checks through which everything must pass on its way
from problems to survivors."""

from __future__ import annotations

from typing import Any

import dagster as dg
import polars as pl

from assets.checks import suite_check
from assets.predicates import TOLERANCE, once, passed_every_gate, rows_check, weights_sum_to_one
from assets.prompts.champion import champion, duel_replies, heldout
from assets.prompts.judge import accepted
from assets.prompts.line import line
from assets.prompts.results import children, edits, learnability, ratings, rollouts, updates, values
from assets.prompts.train import iterations, problems
from assets.proposal_checks import proposal_checks
from assets.raised import raised_check
from evolake.lake import Lake
from evolake.prompts.evolution.gate_specs import GATES as PROMPT_GATES

GATES = len(PROMPT_GATES)
PLAIN_TEXT = r"trim(regexp_replace(lower(text), '\s+', ' ', 'g'))"


def _of_split(
    asset: dg.AssetsDefinition, name: str, description: str, split: str, reply: str
) -> dg.AssetChecksDefinition:
    """`reply` counts the replies to one problem."""
    return rows_check(
        asset,
        name,
        description,
        once("iteration", "prompt_id", "problem_id", reply),
        f"split = '{split}'",
        rows=f"""
SELECT r.iteration, r.prompt_id, r.problem_id, r.{reply}, p.split FROM {line.name}.{asset.key.path[-1]} AS r
LEFT JOIN {line.name}.problems AS p ON p.problem_id = r.problem_id AND p.cycle = r.cycle
  WHERE r.cycle = $cycle""",
    )


def _rematched(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Ratings next to those of every match again, from the ratings that entered the cycle."""
    from evolake.prompts.rating.ratings import update

    before = {
        row["prompt_id"]: (row["mu"], row["sigma"])
        for row in lake.read(line.name, "incoming_prompts", cycle).to_dicts()
    }
    rows: list[dict[str, Any]] = []
    for (_,), part in sorted(frame.group_by("iteration"), key=lambda item: item[0]):
        played = part.filter(pl.col("source") == "update").sort("place").to_dicts()
        after = update([before[row["prompt_id"]] for row in played], [row["rank"] for row in played])
        for row, (mu, sigma) in zip(played, after, strict=True):
            rows.append(row | {"off": max(abs(row["mu"] - mu), abs(row["sigma"] - sigma))})
            before[row["prompt_id"]] = (row["mu"], row["sigma"])
        for row in part.filter(pl.col("source") == "birth").to_dicts():
            before[row["prompt_id"]] = (row["mu"], row["sigma"])
    return pl.DataFrame(rows, schema={**frame.schema, "off": pl.Float64})


def _checkpoints(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Return updates, each with whether their checkpoint is in the lake, whole."""
    there = [sha is None or lake.blobs.has(sha) for sha in frame["checkpoint_sha"]]
    return frame.with_columns(lost=pl.Series([int(not item) for item in there], dtype=pl.Int64))


problems_are_apart = rows_check(
    problems,
    "heldout_problems_are_apart",
    "Each problem once by id and by text: nothing that is held out can be trained on.",
    once("problem_id"),
    once(PLAIN_TEXT),
    "split IN ('heldout', 'train')",
    "count(DISTINCT split) OVER () = 2",
    "answer IS NOT NULL",
)
rollouts_are_of_training = _of_split(
    rollouts,
    "rollouts_are_of_training_problems",
    "One row per reply; nothing that is held out was trained, rated or edited on.",
    "train",
    "number",
)
duels_are_of_training = _of_split(
    duel_replies,
    "duels_are_of_training_problems",
    "One row per reply; nothing that is held out chose a champion.",
    "train",
    "sample",
)
heldout_is_held_out = _of_split(
    heldout,
    "evaluations_are_of_heldout_problems",
    "One row per reply; what is reported was never trained on.",
    "heldout",
    "sample",
)
values_are_means = rows_check(
    values,
    "values_are_means_of_rollouts",
    "Every value is the mean reward of its rollouts, counted again; a rejected reply is worth nothing.",
    f"value IS NULL OR abs(value - mean) <= {TOLERANCE}",
    rows=f"""
SELECT v.iteration, v.prompt_id, v.problem_id, v.value, avg(coalesce(r.reward, 0))
  FILTER (r.cycle IS NOT NULL) AS mean FROM {line.name}.values AS v
LEFT JOIN {line.name}.rollouts AS r USING (cycle, iteration, prompt_id, problem_id) WHERE v.cycle = $cycle
  GROUP BY ALL""",
)
ratings_follow_from_ranks = suite_check(
    ratings,
    "ratings_follow_from_ranks",
    "Every match rated again from the ratings that entered the cycle gives the same ratings.",
    line.cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="off", min_value=0, max_value=TOLERANCE),
        gxe.ExpectColumnValuesToBeBetween(column="sigma", min_value=0),
    ],
    f"SELECT iteration, prompt_id, rank, mean_reward, mu, sigma FROM {line.name}.ratings WHERE cycle = "
    "$cycle AND source = 'update' ORDER BY ALL",
    prepare=_rematched,
)
updates_have_checkpoints = suite_check(
    updates,
    "updates_have_checkpoints",
    "One row per iteration; whatever learnt has a checkpoint that is in the lake.",
    line.cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="iteration"),
        gxe.ExpectColumnValuesToBeBetween(column="lost", min_value=0, max_value=0),
    ],
    f"SELECT iteration, policy, checkpoint_sha FROM {line.name}.updates WHERE cycle = $cycle ORDER BY "
    "iteration",
    prepare=_checkpoints,
)
learnability_is_of_rollouts = rows_check(
    learnability,
    "learnability_counts_rollouts_of_training",
    "One row per family and difficulty; its replies are those to problems to train on, counted again, and "
    "nothing is learned if no group is mixed.",
    once("arm", "policy", "source", "family", "difficulty"),
    "replies = counted",
    "correct = counted_correct",
    "informative <= groups",
    "score BETWEEN 0 AND 1",
    "(score > 0) = (variance > 0)",
    "pass_rate BETWEEN low AND high",
    rows=f"""
SELECT l.*, r.counted, r.counted_correct FROM (SELECT * FROM {line.name}.learnability
  WHERE cycle = $cycle) AS l FULL JOIN (
  SELECT r.arm, u.policy, p.source, p.family, p.difficulty, count(*) AS counted, count(*)
    FILTER (r.correct) AS counted_correct
  FROM {line.name}.rollouts AS r JOIN {line.name}.problems AS p ON p.problem_id = r.problem_id
    AND p.cycle = r.cycle AND p.split = 'train'
  JOIN {line.name}.updates AS u ON u.cycle = r.cycle AND u.iteration = r.iteration AND u.arm = r.arm
    WHERE r.cycle = $cycle GROUP BY ALL
) AS r USING (arm, policy, source, family, difficulty)""",
)
edits_say_why = rows_check(
    edits,
    "edits_say_why",
    "Every hunk that was not applied has a reason, and none that was has one.",
    "applied = (coalesce(reason, '') = '')",
)
children_are_new = weights_sum_to_one(
    children,
    "parent_weights_sum_to_one",
    "No child twice; every one has parents, whose shares in it sum to 1.",
    "prompt_id",
    orphans_allowed=False,
)
accepted_passed_every_gate = passed_every_gate(
    accepted,
    "accepted_passed_every_gate",
    "Every child that passed has a pass from each gate of this cycle and no objection.",
    "prompt_id",
    GATES,
    where="passed",
)
wins_are_beyond_noise = rows_check(
    champion,
    "wins_are_beyond_the_noise",
    "A challenger wins only if its gain's interval is above zero; one decision per challenger.",
    once("challenger_id"),
    "NOT wins OR low > 0",
)
judging_did_not_raise = raised_check(accepted, line.name, line.cycles, judged=["accepted"])
some_proposal_was_answered = proposal_checks(line, iterations)
GUARDS = (
    problems_are_apart,
    rollouts_are_of_training,
    values_are_means,
    ratings_follow_from_ranks,
    updates_have_checkpoints,
    learnability_is_of_rollouts,
    edits_say_why,
    children_are_new,
    accepted_passed_every_gate,
    duels_are_of_training,
    wins_are_beyond_noise,
    heldout_is_held_out,
)
