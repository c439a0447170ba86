"""The multi-gate guard of the solvers line: blocking checks through which everything must pass on its way from variants to survivors."""

from __future__ import annotations

import polars as pl

from assets.checks import suite_check
from assets.cycle import cycles
from assets.raised import Reasons, raised_check
from assets.solvers.judge import PROVING, binaries, compliance, correctness, smoke
from assets.solvers.line import line
from assets.solvers.measure import benchmark_runs, consensus_ranking, metrics, objective_scores
from assets.solvers.propose import variants
from assets.solvers.reign import champion
from evolake.lake import DERIVATIONS, Lake, side_table
from evolake.solvers.tables import CORRECTNESS_RUNS, RUNS, SMOKE_RUNS, STABILITY_RUNS
from evolake.solvers.tables_archive import UNMADE

GATES = 5
PASSES = f"""
SELECT r.variant_id, count(DISTINCT v.gate) FILTER (v.outcome = 'pass' AND v.gate_no < {GATES}) AS passes,
    count(*) FILTER (v.outcome <> 'pass' AND (v.cycle < $cycle OR v.gate_no <= {{last}})) AS objections
FROM (SELECT DISTINCT variant_id FROM {{table}} WHERE cycle = $cycle) AS r
LEFT JOIN verdicts AS v ON v.artifact_id = r.variant_id AND v.cycle <= $cycle
GROUP BY ALL"""
"""What was said by the gates up to number `last` (5 is the benchmark) in this cycle, and by all in the cycles before: what a later cycle finds out
was not known then."""
ALL_GATES = PASSES + f"\nHAVING passes < {GATES} OR objections > 0 ORDER BY r.variant_id"


def _passes(table: str, last: int):
    def prepare(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
        from evolake.lake import Catalogue

        with Catalogue(lake) as catalogue:
            return catalogue.frame(PASSES.format(table=table, last=last), {"cycle": cycle})

    return prepare


def _gate_expectations(gxe):
    return [
        gxe.ExpectColumnValuesToBeBetween(column="passes", min_value=GATES, max_value=GATES),
        gxe.ExpectColumnValuesToBeBetween(column="objections", min_value=0, max_value=0),
    ]


def _gate_check(asset, name: str, text: str, table: str, last: int):
    return suite_check(asset, name, text, cycles, _gate_expectations, ALL_GATES.format(table=table, last=last), prepare=_passes(table, last))


def _weights(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    derived = lake.read(line.name, side_table("variants", DERIVATIONS), cycle)
    return derived.group_by("child_id").agg(pl.col("weight").sum().alias("total"), pl.col("weight").min().alias("smallest"))


def _claims(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    """Solved runs with what proves them."""
    claim = pl.col("solved") & pl.col("certificate").is_null()
    refuted = pl.col("solved") & ((pl.col("status") == "wrong") | (pl.col("proof_status") == "refuted"))
    key = pl.concat_str([pl.col(name).cast(pl.String) for name in ("variant_id", "instance", "repeat")], separator=":")
    return frame.with_columns(key=key, unproved=claim.cast(pl.Int64), refuted=refuted.cast(pl.Int64))


def _run_expectations(gxe):
    return [
        gxe.ExpectColumnValuesToBeUnique(column="key"), gxe.ExpectColumnValuesToBeBetween(column="unproved", min_value=0, max_value=0),
        gxe.ExpectColumnValuesToBeBetween(column="refuted", min_value=0, max_value=0),
    ]


def _pairs(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    wanted = frame["objective_id"].n_unique() * frame["variant_id"].n_unique()
    return frame.with_columns(pair=pl.col("objective_id") + ":" + pl.col("variant_id"), pairs=pl.lit(frame.height), pairs_wanted=pl.lit(wanted))


variants_are_known_once = suite_check(
    variants, "variants_are_known_once", "No id twice; every variant has its archive, its diff and its hypothesis.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="variant_id"), gxe.ExpectColumnValuesToNotBeNull(column="archive_sha"),
        gxe.ExpectColumnValuesToNotBeNull(column="diff_sha"), gxe.ExpectColumnValuesToNotBeNull(column="hypothesis"),
    ],
    f"SELECT variant_id, title FROM {line.name}.variants WHERE cycle = $cycle AND (archive_sha IS NULL OR diff_sha IS NULL OR hypothesis IS NULL)",
)
variant_weights_sum_to_one = suite_check(
    variants, "parent_weights_sum_to_one", "The shares that a variant's parents had in it sum to 1.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="total", min_value=1 - 1e-9, max_value=1 + 1e-9),
        gxe.ExpectColumnValuesToBeBetween(column="smallest", min_value=0),
    ],
    f"""
SELECT child_id, sum(weight) AS total FROM {line.name}.variants__{DERIVATIONS.name}
WHERE cycle = $cycle GROUP BY ALL HAVING abs(total - 1) > 1e-9""",
    prepare=_weights,
)
compliance_judged_each_once = suite_check(
    compliance, "each_variant_judged_once", "Every variant of the cycle has one judgement of compliance, with the evidence that it rests on.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="variant_id"), gxe.ExpectColumnValuesToNotBeNull(column="evidence_sha"),
        gxe.ExpectColumnValuesToNotBeNull(column="passed"),
    ],
    f"SELECT variant_id, count(*) AS times FROM {line.name}.compliance WHERE cycle = $cycle GROUP BY ALL HAVING times > 1",
)
binaries_are_there = suite_check(
    binaries, "what_passed_has_a_program", "What passed the build gate has an executable among the blobs, and a log.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="variant_id"), gxe.ExpectColumnValuesToNotBeNull(column="log_sha"),
        gxe.ExpectColumnValuesToNotBeNull(column="program_sha", row_condition="passed == True", condition_parser="pandas"),
    ],
    f"SELECT variant_id, reason FROM {line.name}.binaries WHERE cycle = $cycle AND passed AND program_sha IS NULL",
)
correctness_is_proved = suite_check(
    correctness, "solved_means_certified", "No run counts as solved whose model or proof was not checked, or was refuted.", cycles, _run_expectations,
    f"""
SELECT variant_id, instance, status, certificate, proof_status FROM {line.name}.correctness
WHERE cycle = $cycle AND solved AND (certificate IS NULL OR status = 'wrong' OR proof_status = 'refuted') ORDER BY ALL""",
    prepare=_claims,
)
smoke_is_known_once = suite_check(
    smoke, "each_formula_once", "Every variant that was built met every small formula once.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeUnique(column="key")],
    f"SELECT variant_id, instance, count(*) AS times FROM {line.name}.smoke WHERE cycle = $cycle GROUP BY ALL HAVING times > 1",
    prepare=_claims,
)
benchmarked_are_proved = suite_check(
    benchmark_runs, "solved_means_certified", "One row a run; no answer counts as solved without a checked model or a verified proof.", cycles,
    _run_expectations,
    f"""
SELECT variant_id, instance, status, certificate, proof_status FROM {line.name}.benchmark_runs
WHERE cycle = $cycle AND solved AND (certificate IS NULL OR status = 'wrong' OR proof_status = 'refuted') ORDER BY ALL""",
    prepare=_claims,
)
benchmarked_passed_every_gate = _gate_check(
    benchmark_runs, "benchmarked_passed_every_gate", "Whatever is benchmarked has a pass from each gate and no objection before.",
    f"{line.name}.benchmark_runs", GATES - 1,
)
metrics_add_up = suite_check(
    metrics, "metrics_add_up", "Solved is at most all, PAR-2 lies within its bounds, and nothing with a wrong answer has figures.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="variant_id"), gxe.ExpectColumnValuesToBeBetween(column="spare", min_value=0),
        gxe.ExpectColumnValuesToBeBetween(column="par2_share", min_value=0, max_value=1),
        gxe.ExpectColumnValuesToBeBetween(column="wrong", min_value=0, max_value=0),
    ],
    f"""
SELECT variant_id, instances, solved, wrong, par2 FROM {line.name}.metrics
WHERE cycle = $cycle AND (solved > instances OR wrong > 0 OR par2 NOT BETWEEN 0 AND 2 * timeout_s)""",
    prepare=lambda frame, lake, cycle: frame.with_columns(
        spare=pl.col("instances") - pl.col("solved"), par2_share=pl.col("par2") / (2 * pl.col("timeout_s"))
    ),
)
scores_are_complete = suite_check(
    objective_scores, "every_objective_scored_every_variant", "One row for every pair of objective and variant, none twice.", cycles,
    lambda gxe: [gxe.ExpectColumnValuesToBeUnique(column="pair"), gxe.ExpectColumnPairValuesToBeEqual(column_A="pairs", column_B="pairs_wanted")],
    f"SELECT objective_id, variant_id, count(*) AS times FROM {line.name}.objective_scores WHERE cycle = $cycle GROUP BY ALL HAVING times > 1",
    prepare=_pairs,
)
ranking_is_total = suite_check(
    consensus_ranking, "ranking_is_total", "Every variant has one rank, ranks are unique, the consensus lies in 0 to 1.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="variant_id"), gxe.ExpectColumnValuesToBeUnique(column="rank"),
        gxe.ExpectColumnValuesToBeBetween(column="consensus", min_value=0, max_value=1),
    ],
    f"SELECT * FROM {line.name}.consensus_ranking WHERE cycle = $cycle AND (consensus NOT BETWEEN 0 AND 1 OR rank < 1) ORDER BY rank",
)
ranked_passed_every_gate = _gate_check(
    consensus_ranking, "ranked_passed_every_gate", "Whatever is ranked, new or old, has a pass from each gate and was not found unsound.",
    f"{line.name}.consensus_ranking", GATES,
)
winners_lost_nothing = suite_check(
    champion, "a_winner_lost_no_formula", "Whoever wins a duel solves no fewer formulas, and gains more than the noise.", cycles,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="challenger_id"), gxe.ExpectColumnValuesToBeBetween(column="lost", min_value=0, max_value=0),
        gxe.ExpectColumnValuesToBeBetween(column="within_noise", min_value=0, max_value=0),
    ],
    f"""
SELECT challenger_id, reason FROM {line.name}.champion
WHERE cycle = $cycle AND wins AND (solved_challenger < solved_champion OR ratio_low <= noise_floor)""",
    prepare=lambda frame, lake, cycle: frame.with_columns(
        lost=(pl.col("wins") & (pl.col("solved_challenger") < pl.col("solved_champion"))).cast(pl.Int64),
        within_noise=(pl.col("wins") & (pl.col("ratio_low") <= pl.col("noise_floor"))).cast(pl.Int64),
    ),
)
RUNS_OF_GATES = {"smoke": SMOKE_RUNS, "correctness": CORRECTNESS_RUNS, "stability_runs": STABILITY_RUNS}
judging_variants_did_not_raise = raised_check(
    correctness, line.name, cycles, judged=PROVING,
    told=[Reasons("unmade", UNMADE, "plan_id"), *(Reasons(name, schema, "variant_id", "problems") for name, schema in RUNS_OF_GATES.items())],
)
judging_benchmarks_did_not_raise = raised_check(
    benchmark_runs, line.name, cycles, told=[Reasons("benchmark_runs", RUNS, "variant_id", "problems")],
)
GUARDS = (
    variants_are_known_once, variant_weights_sum_to_one, compliance_judged_each_once, binaries_are_there, smoke_is_known_once, correctness_is_proved,
    benchmarked_are_proved, benchmarked_passed_every_gate, metrics_add_up, scores_are_complete, ranking_is_total, ranked_passed_every_gate,
    winners_lost_nothing,
)
