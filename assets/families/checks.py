"""The multi-gate guard of the families line: blocking checks through which everything must pass on its way from candidates to survivors."""

from __future__ import annotations

import polars as pl

from assets.checks import suite_check
from assets.cycle import cycles
from assets.families.judge import GATES_OF, accepted, blind_reviews, consensus_labels, execution, quality
from assets.families.line import line
from assets.families.products import complexity, funnel, instances
from assets.families.propose import candidates
from assets.raised import Reasons, raised_check
from evolake.families.tables import UNMADE
from evolake.lake import DERIVATIONS, Lake, side_table

GATES = 5
PASSES = f"""
SELECT f.family_id, count(DISTINCT v.gate) FILTER (v.outcome = 'pass') AS passes, count(*) FILTER (v.outcome <> 'pass') AS objections
FROM {line.name}.accepted AS f LEFT JOIN verdicts AS v ON v.artifact_id = f.family_id AND v.cycle = f.cycle
WHERE f.cycle = $cycle GROUP BY ALL"""


def _passes(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    from evolake.lake import Catalogue

    with Catalogue(lake) as catalogue:
        return catalogue.frame(PASSES, {"cycle": cycle})


def _weights(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    derived = lake.read(line.name, side_table("candidates", DERIVATIONS), cycle)
    sums = derived.group_by("child_id").agg(pl.col("weight").sum().alias("total"), pl.col("weight").min().alias("smallest"))
    orphans = frame.filter(~pl.col("family_id").is_in(derived["child_id"].to_list()))
    return pl.concat([sums, orphans.select(pl.col("family_id").alias("child_id"), total=pl.lit(0.0), smallest=pl.lit(0.0))])


def _majorities(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    key = pl.concat_str([pl.col(name).cast(pl.String) for name in ("family_id", "difficulty", "seed")], separator=":")
    return frame.with_columns(key=key, weak=(pl.col("decided") & (2 * pl.col("votes") <= pl.col("voters"))).cast(pl.Int64))


def _sampled_votes(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """The sampled instances of accepted families; one row of a family without any, so that it cannot pass."""
    votes = frame.select("family_id").join(lake.read(line.name, "consensus_labels", cycle), on="family_id", how="left")
    agreed = pl.col("decided") & (2 * pl.col("votes") > pl.col("voters")) & pl.col("primary_agrees")
    return votes.with_columns(disputed=(~agreed).cast(pl.Int64).fill_null(1))


def _gate_check(asset, gates: str):
    return suite_check(
        asset, "each_family_judged_once", f"Every candidate that came to {gates} has one judgement there, with its evidence.", cycles,
        lambda gxe: [
            gxe.ExpectColumnValuesToBeUnique(column="key"), gxe.ExpectColumnValuesToNotBeNull(column="evidence_sha"),
            gxe.ExpectColumnValuesToNotBeNull(column="passed"),
        ],
        f"SELECT family_id, gate, count(*) AS times FROM {line.name}.{asset.key.path[-1]} WHERE cycle = $cycle GROUP BY ALL HAVING times > 1",
        prepare=lambda frame, lake, cycle: frame.with_columns(key=pl.col("family_id") + ":" + pl.col("gate")),
    )


candidates_are_known_once = suite_check(
    candidates, "candidates_are_known_once", "No id twice; every version has its record and evidence, and one of the two states.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="family_id"), gxe.ExpectColumnValuesToNotBeNull(column="record_sha"),
        gxe.ExpectColumnValuesToNotBeNull(column="evidence"), gxe.ExpectColumnValuesToBeInSet(column="state", value_set=["accepted", "blocked"]),
    ],
    f"SELECT family_id, name, state FROM {line.name}.candidates WHERE cycle = $cycle AND (record_sha IS NULL OR evidence IS NULL)",
)
candidate_weights_sum_to_one = suite_check(
    candidates, "parent_weights_sum_to_one", "Every candidate has parents, whose shares in it sum to 1.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="total", min_value=1 - 1e-9, max_value=1 + 1e-9),
        gxe.ExpectColumnValuesToBeBetween(column="smallest", min_value=0),
    ],
    f"""
SELECT child_id, sum(weight) AS total FROM {line.name}.candidates__{DERIVATIONS.name}
WHERE cycle = $cycle GROUP BY ALL HAVING abs(total - 1) > 1e-9""",
    prepare=_weights,
)
execution_judged_each_once = _gate_check(execution, "the execution gate")
quality_judged_each_once = _gate_check(quality, "the static and the quality gate")
labels_have_a_majority = suite_check(
    consensus_labels, "labels_have_a_strict_majority", "No instance has a label without more than half of its voters; a plurality is none.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeUnique(column="key"), gxe.ExpectColumnValuesToBeBetween(column="weak", min_value=0, max_value=0)],
    f"SELECT * FROM {line.name}.consensus_labels WHERE cycle = $cycle AND decided AND 2 * votes <= voters ORDER BY ALL",
    prepare=_majorities,
)
reviews_are_honest = suite_check(
    blind_reviews, "matches_have_an_answer", "One row a review; whoever matches the label has answered, and not N/A.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeUnique(column="key"), gxe.ExpectColumnValuesToBeBetween(column="empty", min_value=0, max_value=0)],
    f"SELECT * FROM {line.name}.blind_reviews WHERE cycle = $cycle AND matched AND (status <> 'answered' OR answer = '') ORDER BY ALL",
    prepare=lambda frame, lake, cycle: frame.with_columns(
        key=pl.col("family_id") + ":" + pl.col("number").cast(pl.String),
        empty=(pl.col("matched") & ((pl.col("status") != "answered") | (pl.col("answer") == ""))).cast(pl.Int64),
    ),
)
accepted_passed_every_gate = suite_check(
    accepted, "accepted_passed_every_gate", "Every accepted family has a pass from each gate of this cycle and no objection.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="passes", min_value=GATES, max_value=GATES),
        gxe.ExpectColumnValuesToBeBetween(column="objections", min_value=0, max_value=0),
    ],
    PASSES + f"\nHAVING passes < {GATES} OR objections > 0 ORDER BY f.family_id",
    prepare=_passes,
)
accepted_are_agreed_on = suite_check(
    accepted, "accepted_labels_are_agreed", "Every sampled instance of an accepted family has a strict majority, with the primary in it.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeBetween(column="disputed", min_value=0, max_value=0)],
    f"""
SELECT l.* FROM {line.name}.consensus_labels AS l JOIN {line.name}.accepted AS a ON a.family_id = l.family_id AND a.cycle = l.cycle
WHERE l.cycle = $cycle AND NOT (l.decided AND 2 * l.votes > l.voters AND l.primary_agrees) ORDER BY ALL""",
    prepare=_sampled_votes,
)
accepted_are_known_once = suite_check(
    accepted, "accepted_are_known_once", "No accepted family twice, each with the fingerprint that later ones are compared with.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeUnique(column="family_id"), gxe.ExpectColumnValuesToNotBeNull(column="fingerprint")],
    f"SELECT family_id, count(*) AS times FROM {line.name}.accepted WHERE cycle = $cycle GROUP BY ALL HAVING times > 1",
)
instances_are_labelled = suite_check(
    instances, "instances_are_labelled", "Each text once, at a difficulty of 1 to 10, with a label that more than half of its voters gave.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="instance_id"), gxe.ExpectColumnValuesToBeUnique(column="text_sha"),
        gxe.ExpectColumnValuesToBeBetween(column="difficulty", min_value=1, max_value=10),
        gxe.ExpectColumnValuesToNotBeInSet(column="answer", value_set=["null", '"N/A"', ""]),
        gxe.ExpectColumnValuesToBeBetween(column="majority", min_value=1),
    ],
    f"""
SELECT instance_id, family_id, difficulty, answer, votes, voters FROM {line.name}.instances
WHERE cycle = $cycle AND (2 * votes <= voters OR answer = 'null' OR difficulty NOT BETWEEN 1 AND 10) ORDER BY ALL""",
    prepare=lambda frame, lake, cycle: frame.with_columns(majority=2 * pl.col("votes") - pl.col("voters")),
)
complexity_is_measured_once = suite_check(
    complexity, "programs_are_measured_once", "One row a family; whatever was parsed has lines and a time class.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="family_id"),
        gxe.ExpectColumnValuesToBeBetween(column="loc", min_value=1, row_condition="parsed == True", condition_parser="pandas"),
    ],
    f"SELECT family_id, loc, time_class FROM {line.name}.complexity WHERE cycle = $cycle AND parsed AND (loc < 1 OR time_class IS NULL)",
)
funnel_adds_up = suite_check(
    funnel, "funnel_adds_up", "Passed and blocked make up what came; nobody passes without having come.", cycles,
    lambda gxe: [
        gxe.ExpectColumnPairValuesToBeEqual(column_A="came", column_B="both"), gxe.ExpectColumnValuesToBeBetween(column="blocked", min_value=0),
        gxe.ExpectColumnValuesToBeBetween(column="rate", min_value=0, max_value=1),
    ],
    f"SELECT * FROM {line.name}.funnel WHERE cycle = $cycle AND (came <> passed + blocked OR passed < 0 OR blocked < 0)",
    prepare=lambda frame, lake, cycle: frame.with_columns(both=pl.col("passed") + pl.col("blocked")),
)
judging_did_not_raise = raised_check(accepted, line.name, cycles, judged=tuple(GATES_OF), told=[Reasons("unmade", UNMADE, "number")])
GUARDS = (
    candidates_are_known_once, candidate_weights_sum_to_one, execution_judged_each_once, quality_judged_each_once, labels_have_a_majority,
    reviews_are_honest, accepted_passed_every_gate, accepted_are_agreed_on, accepted_are_known_once, instances_are_labelled,
    complexity_is_measured_once, funnel_adds_up,
)
