"""The multi-gate guard of the designs line: blocking checks through which everything must pass on its way from candidates to survivors."""

from __future__ import annotations

import polars as pl

from assets.checks import suite_check
from assets.cycle import cycles
from assets.designs.line import line
from assets.designs.measure import experiments, promoted_experiments
from assets.designs.propose import candidates
from assets.designs.rank import consensus_ranking, final_ranking, final_scores, objective_scores
from assets.designs.tune import tuning
from assets.raised import Reasons, raised_check
from evolake.designs.tables import EXPERIMENTS, TUNING, UNMADE
from evolake.lake import DERIVATIONS, Lake, side_table

GATES = 4
PASSES = """
SELECT d.design_id, count(DISTINCT v.gate) FILTER (v.outcome = 'pass') AS passes, count(*) FILTER (v.outcome <> 'pass') AS objections
FROM {table} AS d LEFT JOIN verdicts AS v ON v.artifact_id = d.design_id
WHERE d.cycle = $cycle AND {accepted} GROUP BY ALL"""
ALL_GATES = PASSES + f"\nHAVING passes < {GATES} OR objections > 0 ORDER BY d.design_id"


def _passes(table: str, accepted: str):
    def prepare(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
        from evolake.lake import Catalogue

        with Catalogue(lake) as catalogue:
            return catalogue.frame(PASSES.format(table=table, accepted=accepted), {"cycle": cycle})

    return prepare


def _gate_expectations(gxe):
    return [
        gxe.ExpectColumnValuesToBeBetween(column="passes", min_value=GATES, max_value=GATES),
        gxe.ExpectColumnValuesToBeBetween(column="objections", min_value=0, max_value=0),
    ]


def _weights(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    derived = lake.read(line.name, side_table("candidates", DERIVATIONS), cycle)
    return derived.group_by("child_id").agg(pl.col("weight").sum().alias("total"), pl.col("weight").min().alias("smallest"))


def _pairs(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    wanted = frame["objective_id"].n_unique() * frame["design_id"].n_unique()
    return frame.with_columns(pair=pl.col("objective_id") + ":" + pl.col("design_id"), pairs=pl.lit(frame.height), pairs_wanted=pl.lit(wanted))


def _measured(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    keys = ["design_id", "fidelity", "N", "max_steps", "seed"]
    key = pl.concat_str([pl.col(name).cast(pl.String) for name in keys], separator=":")
    return frame.with_columns(key=key, spare=pl.col("max_steps") - pl.col("steps_run"))


def _measurement_expectations(gxe):
    return [
        gxe.ExpectColumnValuesToBeUnique(column="key"),
        gxe.ExpectColumnValuesToBeBetween(column="unsolved_fraction", min_value=0, max_value=1),
        gxe.ExpectColumnValuesToBeBetween(column="median_step", min_value=1),
        gxe.ExpectColumnValuesToBeBetween(column="spare", min_value=0),
        gxe.ExpectColumnValuesToBeInSet(column="fidelity", value_set=["low", "medium", "high"]),
    ]


def _measurement_check(asset, table: str):
    offenders = f"""
SELECT * FROM {line.name}.{table} WHERE cycle = $cycle AND (unsolved_fraction NOT BETWEEN 0 AND 1 OR median_step < 1 OR steps_run > max_steps
  OR fidelity NOT IN ('low', 'medium', 'high')) ORDER BY design_id, "N" """
    text = "Every row is a measurement that can be: one a level, steps within the budget, a share within 0 and 1."
    return suite_check(asset, "measurements_are_possible", text, cycles, _measurement_expectations, offenders, prepare=_measured)


def _score_check(asset, table: str):
    return suite_check(
        asset, "every_objective_scored_every_design", "One row for every pair of objective and design, none twice.", cycles,
        lambda gxe: [
            gxe.ExpectColumnValuesToBeUnique(column="pair"), gxe.ExpectColumnPairValuesToBeEqual(column_A="pairs", column_B="pairs_wanted"),
        ],
        f"SELECT objective_id, design_id, count(*) AS times FROM {line.name}.{table} WHERE cycle = $cycle GROUP BY ALL HAVING times > 1 ORDER BY ALL",
        prepare=_pairs,
    )


def _ranking_check(asset, table: str):
    return suite_check(
        asset, "ranking_is_total", "Every design has one rank, ranks are unique, the consensus lies in 0 to 1.", cycles,
        lambda gxe: [
            gxe.ExpectColumnValuesToBeUnique(column="design_id"), gxe.ExpectColumnValuesToBeUnique(column="rank"),
            gxe.ExpectColumnValuesToBeBetween(column="consensus", min_value=0, max_value=1),
        ],
        f"SELECT * FROM {line.name}.{table} WHERE cycle = $cycle AND (consensus NOT BETWEEN 0 AND 1 OR rank < 1) ORDER BY rank",
    )


candidates_passed_every_gate = suite_check(
    candidates, "accepted_passed_every_gate", "Every accepted candidate has a pass from each gate and no objection.", cycles, _gate_expectations,
    ALL_GATES.format(table=f"{line.name}.candidates", accepted="d.state = 'accepted'"),
    prepare=_passes(f"{line.name}.candidates", "d.state = 'accepted'"),
)
candidates_are_known_once = suite_check(
    candidates, "candidates_are_known_once", "No id twice, and every state is one of the two that a candidate can have.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="design_id"), gxe.ExpectColumnValuesToNotBeNull(column="design_id"),
        gxe.ExpectColumnValuesToBeInSet(column="state", value_set=["accepted", "blocked"]), gxe.ExpectColumnValuesToNotBeNull(column="source_sha"),
    ],
    f"""
SELECT design_id, state, title FROM {line.name}.candidates
WHERE cycle = $cycle AND (state NOT IN ('accepted', 'blocked') OR source_sha IS NULL)""",
)
candidate_weights_sum_to_one = suite_check(
    candidates, "reference_weights_sum_to_one", "The shares that a candidate's parents had in it sum to 1.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="total", min_value=1 - 1e-9, max_value=1 + 1e-9),
        gxe.ExpectColumnValuesToBeBetween(column="smallest", min_value=0),
    ],
    f"""
SELECT child_id, sum(weight) AS total FROM {line.name}.candidates__{DERIVATIONS.name}
WHERE cycle = $cycle GROUP BY ALL HAVING abs(total - 1) > 1e-9""",
    prepare=_weights,
)
experiments_are_possible = _measurement_check(experiments, "experiments")
promoted_are_possible = _measurement_check(promoted_experiments, "promoted_experiments")
scores_are_complete = _score_check(objective_scores, "objective_scores")
final_scores_are_complete = _score_check(final_scores, "final_scores")
ranking_is_total = _ranking_check(consensus_ranking, "consensus_ranking")
final_ranking_is_total = _ranking_check(final_ranking, "final_ranking")
ranked_passed_every_gate = suite_check(
    final_ranking, "ranked_passed_every_gate", "Whatever is ranked, of this cycle or an older one, seed or merged, has a pass from each gate.",
    cycles, _gate_expectations, ALL_GATES.format(table=f"{line.name}.final_ranking", accepted="true"),
    prepare=_passes(f"{line.name}.final_ranking", "true"),
)
tuned_passed_every_gate = suite_check(
    tuning, "tuned_passed_every_gate", "A tuned copy has a pass from each gate before it enters the population.", cycles, _gate_expectations,
    ALL_GATES.format(table=f"{line.name}.tuned_designs", accepted="d.state = 'accepted'"),
    prepare=_passes(f"{line.name}.tuned_designs", "d.state = 'accepted'"),
)
judging_candidates_did_not_raise = raised_check(
    candidates, line.name, cycles, judged=["directions", "candidates"], told=[Reasons("unmade", UNMADE, "number")],
)
running_experiments_did_not_raise = raised_check(experiments, line.name, cycles, told=[Reasons("experiments", EXPERIMENTS, "design_id", "failure")])
running_promoted_did_not_raise = raised_check(
    promoted_experiments, line.name, cycles, told=[Reasons("promoted_experiments", EXPERIMENTS, "design_id", "failure")],
)
tuning_did_not_raise = raised_check(tuning, line.name, cycles, judged=["tuning"], told=[Reasons("tuning", TUNING, "design_id")])
GUARDS = (
    candidates_passed_every_gate, candidates_are_known_once, candidate_weights_sum_to_one, experiments_are_possible, promoted_are_possible,
    scores_are_complete, final_scores_are_complete, ranking_is_total, final_ranking_is_total, ranked_passed_every_gate, tuned_passed_every_gate,
)
