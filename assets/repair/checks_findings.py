"""What the findings must satisfy: arms were run alike, and the tests add up."""

from __future__ import annotations

from assets.predicates import TOLERANCE, once, rows_check
from assets.repair.findings import comparisons, summary

arms_were_run_alike = rows_check(
    summary,
    "arms_were_run_alike",
    "Within a suite and variation every arm has as many runs; rates are in 0..1 and their parts add up.",
    once("suite", "variation", "arm"),
    "runs = max(runs) OVER (PARTITION BY suite, variation)",
    "runs = sat_runs + unsat_runs",
    "solved = sat_certified + unsat_certified",
    "rate BETWEEN 0 AND 1",
)
tests_add_up = rows_check(
    comparisons,
    "tests_add_up",
    "Two arms are compared once per unit, the four counts make all pairs, and no adjusted p-value is the "
    "smaller.",
    once("unit", "first", "second"),
    '"both" + only_first + only_second + neither = pairs',
    f"abs(difference - (only_first - only_second) / pairs) <= {TOLERANCE}",
    "p_holm >= p_value",
    "p_holm BETWEEN 0 AND 1",
)
