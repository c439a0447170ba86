"""What a cell must satisfy before anything is found over it, and what the benchmark must."""

from __future__ import annotations

import polars as pl

from assets.checks import suite_check
from assets.repair.cells import study
from assets.repair.results import results
from assets.repair.setup import problems
from evolake.lake import Lake
from evolake.repair.tables import ATTEMPTS

CERTIFICATES = """
SELECT r.problem_id, r.solved, r.claim, r.certified_status, p.label, r.first_certified_call, count(a.problem_id) AS certificates
FROM repair.results AS r JOIN repair.problems AS p USING (problem_id)
LEFT JOIN repair.attempts AS a ON a.cycle = r.cycle AND a.problem_id = r.problem_id AND a.verdict = 'certified' AND a.claim = r.certified_status
WHERE r.cycle = $cycle GROUP BY ALL"""
SOUND = """CASE WHEN solved THEN certificates = 1 AND certified_status = label AND claim = label AND first_certified_call IS NOT NULL
    ELSE certificates = 0 AND certified_status IS NULL AND first_certified_call IS NULL END"""
BUDGETS = """
SELECT r.problem_id, r.arm, r.rounds, r.calls, r.solver_calls, count(a.problem_id) AS attempts, sum(a.solver_calls) AS solver_calls_made,
    CASE WHEN r.arm = 'one_shot' THEN 1 ELSE s.candidates * CASE WHEN r.solved THEN r.rounds ELSE s.rounds END END AS calls_due,
    s.candidates * s.rounds AS budget, r.solved, r.budget_exceeded
FROM repair.results AS r CROSS JOIN repair.study AS s LEFT JOIN repair.attempts AS a ON a.cycle = r.cycle AND a.problem_id = r.problem_id
WHERE r.cycle = $cycle GROUP BY ALL"""
KEPT = "calls = calls_due AND attempts = calls AND solver_calls_made = solver_calls AND calls <= budget AND budget_exceeded = (NOT solved)"


def _queried(sql: str):
    def prepare(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
        from evolake.lake import Catalogue

        with Catalogue(lake) as catalogue:
            return catalogue.frame(sql, {"cycle": cycle} if "$cycle" in sql else {})

    return prepare


def _counted(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    wanted = lake.read(study.name, "problems").height
    return frame.select("problem_id", "study_sha", runs=pl.lit(frame.height), runs_wanted=pl.lit(wanted), studies=pl.col("study_sha").n_unique())


def _attempted(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    attempts = lake.read(study.name, "attempts", cycle)
    repeated = ATTEMPTS.repeated_keys(attempts).height
    return pl.DataFrame({"attempts": [attempts.height], "repeated": [repeated], "calls": [frame["calls"].sum()]})


def _labelled(frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
    labels = dict(frame.select("problem_id", "label").iter_rows())
    return frame.with_columns(
        certifiers=pl.col("certified_by").list.n_unique(), label_of_origin=pl.col("base_id").replace_strict(labels, default=None),
    ).drop("certified_by", "json")


labels_are_certified_twice = suite_check(
    problems, "labels_are_certified_twice", "Each problem is there once, two methods gave its label, a perturbation has its origin's.", None,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="problem_id"), gxe.ExpectColumnValuesToNotBeNull(column="problem_id"),
        gxe.ExpectColumnValuesToBeInSet(column="label", value_set=["sat", "unsat"]), gxe.ExpectColumnValuesToNotBeNull(column="label"),
        gxe.ExpectColumnValuesToBeBetween(column="certifiers", min_value=2, max_value=2),
        gxe.ExpectColumnPairValuesToBeEqual(column_A="label", column_B="label_of_origin"),
    ],
    """
SELECT p.problem_id, p.label, p.certified_by, o.label AS label_of_origin
FROM repair.problems AS p LEFT JOIN repair.problems AS o ON o.problem_id = p.base_id
WHERE p.label NOT IN ('sat', 'unsat') OR len(p.certified_by) <> 2 OR o.label IS DISTINCT FROM p.label ORDER BY p.problem_id""",
    prepare=_labelled,
)
every_problem_was_run_once = suite_check(
    results, "every_problem_was_run_once", "A cell has one row for each problem of the benchmark, all of one study.", study.partitions,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeUnique(column="problem_id"), gxe.ExpectColumnPairValuesToBeEqual(column_A="runs", column_B="runs_wanted"),
        gxe.ExpectColumnValuesToBeBetween(column="studies", min_value=1, max_value=1),
    ],
    """
SELECT problem_id, count(*) AS runs FROM repair.problems LEFT JOIN (SELECT * FROM repair.results WHERE cycle = $cycle) AS r USING (problem_id)
GROUP BY ALL HAVING count(r.arm) <> 1 ORDER BY problem_id""",
    prepare=_counted,
)
no_solve_without_certificate = suite_check(
    results, "no_solve_without_certificate",
    "Each solved row has exactly one certified attempt, of the problem's certified label; no unsolved row has any.", study.partitions,
    lambda gxe: [gxe.ExpectColumnValuesToBeInSet(column="sound", value_set=[True]), gxe.ExpectColumnValuesToNotBeNull(column="sound")],
    f"SELECT * FROM ({CERTIFICATES}) WHERE ({SOUND}) IS NOT TRUE ORDER BY problem_id",
    prepare=_queried(f"SELECT problem_id, {SOUND} AS sound FROM ({CERTIFICATES})"),
)
budget_is_equal = suite_check(
    results, "budget_is_equal",
    "A matched arm makes K calls a round, all K x R where it does not solve, none beyond; one_shot makes one. Calls and solver calls are those "
    "of the attempts on record.", study.partitions,
    lambda gxe: [gxe.ExpectColumnValuesToBeInSet(column="kept", value_set=[True]), gxe.ExpectColumnValuesToNotBeNull(column="kept")],
    f"SELECT * FROM ({BUDGETS}) WHERE ({KEPT}) IS NOT TRUE ORDER BY problem_id",
    prepare=_queried(f"SELECT problem_id, {KEPT} AS kept FROM ({BUDGETS})"),
)
attempts_are_known_once = suite_check(
    results, "attempts_are_known_once", "Every call is one attempt, told apart by problem, round and candidate.", study.partitions,
    lambda gxe: [
        gxe.ExpectColumnValuesToBeBetween(column="repeated", min_value=0, max_value=0),
        gxe.ExpectColumnPairValuesToBeEqual(column_A="attempts", column_B="calls"),
    ],
    """
SELECT problem_id, round, candidate, count(*) AS times FROM repair.attempts WHERE cycle = $cycle
GROUP BY ALL HAVING times > 1 ORDER BY problem_id, round, candidate""",
    prepare=_attempted,
)
CELL_CHECKS = (every_problem_was_run_once, no_solve_without_certificate, budget_is_equal, attempts_are_known_once)
