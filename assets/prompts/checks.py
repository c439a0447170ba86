"""The multi-gate guard of the prompts line: blocking checks through which everything must pass on its way from problems to survivors."""

from __future__ import annotations

import math

import polars as pl

from assets.checks import suite_check
from assets.cycle import cycles
from assets.prompts.judge import accepted
from assets.prompts.line import line
from assets.prompts.reign import champion, duel_replies, heldout
from assets.prompts.results import children, edits, ratings, rollouts, updates, values
from assets.prompts.train import problems
from assets.raised import raised_check
from evolake.lake import DERIVATIONS, Lake, side_table

GATES = 2
PASSES = f"""
SELECT a.prompt_id, count(DISTINCT v.gate) FILTER (v.outcome = 'pass') AS passes, count(*) FILTER (v.outcome <> 'pass') AS objections
FROM {line.name}.accepted AS a LEFT JOIN verdicts AS v ON v.artifact_id = a.prompt_id AND v.cycle = a.cycle
WHERE a.cycle = $cycle AND a.passed GROUP BY ALL"""
SPLITS = f"""
SELECT r.problem_id FROM {line.name}.{{table}} AS r LEFT JOIN {line.name}.problems AS p ON p.problem_id = r.problem_id AND p.cycle = r.cycle
WHERE r.cycle = $cycle AND p.split IS DISTINCT FROM '{{split}}' ORDER BY ALL"""
TOLERANCE = 1e-9


def _passes(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    from evolake.lake import Catalogue

    with Catalogue(lake) as catalogue:
        return catalogue.frame(PASSES, {"cycle": cycle})


def _with_split(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    keys = [name for name in ("iteration", "prompt_id", "problem_id", "number", "sample") if name in frame.columns]
    key = pl.concat_str([pl.col(name).cast(pl.String) for name in keys], separator=":")
    return frame.with_columns(key=key).join(lake.read(line.name, "problems", cycle).select("problem_id", "split"), on="problem_id", how="left")


def _split_check(asset, name: str, text: str, split: str):
    return suite_check(
        asset, name, text, cycles,
        lambda gxe: [gxe.ExpectColumnValuesToBeUnique(column="key"), gxe.ExpectColumnDistinctValuesToBeInSet(column="split", value_set=[split])],
        SPLITS.format(table=asset.key.path[-1], split=split), prepare=_with_split,
    )


def _texts(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    plain = pl.col("text").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    return frame.with_columns(plain=plain)


def _recomputed(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Values beside the means of their rollouts; a rejected reply is worth nothing."""
    means = lake.read(line.name, "rollouts", cycle).group_by("iteration", "prompt_id", "problem_id").agg(mean=pl.col("reward").fill_null(0.0).mean())
    joined = frame.join(means, on=["iteration", "prompt_id", "problem_id"], how="left")
    return joined.with_columns(off=(pl.col("value") - pl.col("mean")).abs().fill_null(math.inf)).filter(pl.col("value").is_not_null())


def _rematched(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Ratings beside those of every match again, from the ratings that entered the cycle."""
    from evolake.prompts.rating.ratings import update

    before = {row["prompt_id"]: (row["mu"], row["sigma"]) for row in lake.read(line.name, "incoming_prompts", cycle).to_dicts()}
    rows = []
    for (_,), part in sorted(frame.group_by("iteration"), key=lambda item: item[0]):
        played = part.filter(pl.col("source") == "update").sort("place").to_dicts()
        after = update([before[row["prompt_id"]] for row in played], [row["rank"] for row in played])
        for row, (mu, sigma) in zip(played, after, strict=True):
            rows.append(row | {"off": max(abs(row["mu"] - mu), abs(row["sigma"] - sigma))})
            before[row["prompt_id"]] = (row["mu"], row["sigma"])
        for row in part.filter(pl.col("source") == "birth").to_dicts():
            before[row["prompt_id"]] = (row["mu"], row["sigma"])
    return pl.DataFrame(rows, schema={**frame.schema, "off": pl.Float64})


def _weights(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    derived = lake.read(line.name, side_table("children", DERIVATIONS), cycle)
    sums = derived.group_by("child_id").agg(pl.col("weight").sum().alias("total"), pl.col("weight").min().alias("smallest"))
    orphans = frame.filter(~pl.col("prompt_id").is_in(derived["child_id"].to_list()))
    return pl.concat([sums, orphans.select(pl.col("prompt_id").alias("child_id"), total=pl.lit(0.0), smallest=pl.lit(0.0))])


def _checkpoints(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Updates with whether their checkpoint is in the lake, whole."""
    there = [sha is None or lake.blobs.has(sha) for sha in frame["checkpoint_sha"]]
    return frame.with_columns(lost=pl.Series([int(not one) for one in there], dtype=pl.Int64))


problems_are_apart = suite_check(
    problems, "heldout_problems_are_apart", "Each problem once by id and by text: nothing that is held out can be trained on.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="problem_id"), gxe.ExpectColumnValuesToBeUnique(column="plain"),
        gxe.ExpectColumnDistinctValuesToEqualSet(column="split", value_set=["heldout", "train"]),
        gxe.ExpectColumnValuesToNotBeNull(column="answer"),
    ],
    f"SELECT text, count(*) AS times FROM {line.name}.problems WHERE cycle = $cycle GROUP BY ALL HAVING times > 1",
    prepare=_texts,
)
rollouts_are_of_training = _split_check(
    rollouts, "rollouts_are_of_training_problems", "One row a reply; nothing that is held out was trained, rated or edited on.", "train",
)
duels_are_of_training = _split_check(
    duel_replies, "duels_are_of_training_problems", "One row a reply; nothing that is held out chose a champion.", "train",
)
heldout_is_held_out = _split_check(
    heldout, "evaluations_are_of_heldout_problems", "One row a reply; what is reported was never trained on.", "heldout",
)
values_are_means = suite_check(
    values, "values_are_means_of_rollouts", "Every value is the mean reward of its rollouts, counted again.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeBetween(column="off", min_value=0, max_value=TOLERANCE)],
    f"""
SELECT v.iteration, v.prompt_id, v.problem_id, v.value, avg(coalesce(r.reward, 0)) AS mean FROM {line.name}.values AS v
JOIN {line.name}.rollouts AS r USING (cycle, iteration, prompt_id, problem_id)
WHERE v.cycle = $cycle GROUP BY ALL HAVING abs(v.value - mean) > {TOLERANCE}""",
    prepare=_recomputed,
)
ratings_follow_from_ranks = suite_check(
    ratings, "ratings_follow_from_ranks", "Every match rated again from the ratings that entered the cycle gives the same ratings.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="off", min_value=0, max_value=TOLERANCE),
        gxe.ExpectColumnValuesToBeBetween(column="sigma", min_value=0),
    ],
    f"SELECT iteration, prompt_id, rank, mean_reward, mu, sigma FROM {line.name}.ratings WHERE cycle = $cycle AND source = 'update' ORDER BY ALL",
    prepare=_rematched,
)
updates_have_checkpoints = suite_check(
    updates, "updates_have_checkpoints", "One row an iteration; whatever learnt has a checkpoint that is in the lake.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="iteration"), gxe.ExpectColumnValuesToBeBetween(column="lost", min_value=0, max_value=0),
    ],
    f"SELECT iteration, policy, checkpoint_sha FROM {line.name}.updates WHERE cycle = $cycle ORDER BY iteration",
    prepare=_checkpoints,
)
edits_say_why = suite_check(
    edits, "edits_say_why", "Every hunk that was not applied has a reason, and none that was has one.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeBetween(column="mute", min_value=0, max_value=0)],
    f"SELECT * FROM {line.name}.edits WHERE cycle = $cycle AND applied = (reason <> '') ORDER BY ALL",
    prepare=lambda frame, lake, cycle: frame.with_columns(mute=(pl.col("applied") == (pl.col("reason") != "")).cast(pl.Int64)),
)
children_are_new = suite_check(
    children, "parent_weights_sum_to_one", "No child twice; every one has parents, whose shares in it sum to 1.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="child_id"),
        gxe.ExpectColumnValuesToBeBetween(column="total", min_value=1 - TOLERANCE, max_value=1 + TOLERANCE),
        gxe.ExpectColumnValuesToBeBetween(column="smallest", min_value=0),
    ],
    f"""
SELECT child_id, sum(weight) AS total FROM {line.name}.children__{DERIVATIONS.name}
WHERE cycle = $cycle GROUP BY ALL HAVING abs(total - 1) > {TOLERANCE}""",
    prepare=_weights,
)
accepted_passed_every_gate = suite_check(
    accepted, "accepted_passed_every_gate", "Every child that passed has a pass from each gate of this cycle and no objection.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="passes", min_value=GATES, max_value=GATES),
        gxe.ExpectColumnValuesToBeBetween(column="objections", min_value=0, max_value=0),
    ],
    PASSES + f"\nHAVING passes < {GATES} OR objections > 0 ORDER BY a.prompt_id",
    prepare=_passes,
)
wins_are_beyond_noise = suite_check(
    champion, "wins_are_beyond_the_noise", "A challenger reigns only where its gain's interval lies above zero; one decision a challenger.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="challenger_id"), gxe.ExpectColumnValuesToBeBetween(column="doubtful", min_value=0, max_value=0),
    ],
    f"SELECT * FROM {line.name}.champion WHERE cycle = $cycle AND wins AND low <= 0 ORDER BY ALL",
    prepare=lambda frame, lake, cycle: frame.with_columns(doubtful=(pl.col("wins") & (pl.col("low") <= 0)).cast(pl.Int64)),
)
judging_did_not_raise = raised_check(accepted, line.name, cycles, judged=["accepted"])
GUARDS = (
    problems_are_apart, rollouts_are_of_training, values_are_means, ratings_follow_from_ranks, updates_have_checkpoints, edits_say_why,
    children_are_new, accepted_passed_every_gate, duels_are_of_training, wins_are_beyond_noise, heldout_is_held_out,
)
