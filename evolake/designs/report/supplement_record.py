"""What the supplement's parts read that are a question in SQL: tuning, reviews, analyses, predictions against
measurements, what was imported."""

from __future__ import annotations

import polars as pl

from evolake.designs.report.data import SHORTENED

TUNING = """
SELECT t.cycle, any_value(known.title) AS title, count(*) - 1 AS trials, any_value(t.consensus)
  FILTER (t.trial = 0) AS consensus,
  min(t.consensus) AS at_best, any_value(t.largest_solved) FILTER (t.trial = 0) AS largest_n,
    arg_min(t.largest_solved, t.consensus) AS n_at_best,
  any_value(t.median_work) FILTER (t.trial = 0) AS work_there,
  arg_min(t.median_work, t.consensus) AS work_at_best, t.design_id AS design
FROM designs.tuning AS t LEFT JOIN known_artifacts AS known ON known.artifact_id = t.design_id
WHERE t.cycle <= $cycle GROUP BY t.cycle, t.design_id ORDER BY t.cycle DESC"""
REVIEWS = """
SELECT cycle, any_value(research_phase) AS phase, any_value(research_assessment) AS assessment,
  any_value(guidance) AS guidance,
  count(*) FILTER (multiplier > multiplier_before) AS raised, count(*)
    FILTER (multiplier < multiplier_before) AS lowered
FROM designs.meta_review WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle DESC"""
ANALYSES = """
SELECT a.short_name AS design, a.success_level, a.key_insight,
  a.comparison_to_references AS beside_its_references,
  a.recommended_next_steps AS next_steps
FROM designs.analyses AS a WHERE a.cycle = (SELECT max(cycle) FROM designs.analyses WHERE cycle <= $cycle)
  ORDER BY a.short_name"""
ABLATIONS = """
SELECT slot, term, max(effect) FILTER (kind = 'planted') AS on_planted, max(effect)
  FILTER (kind = 'uniform') AS on_uniform,
  round(max(ratio) FILTER (kind = 'planted'), 2) AS planted_ratio, round(max(ratio)
    FILTER (kind = 'uniform'), 2) AS uniform_ratio, any_value(N) AS N
FROM designs.champion_ablations
WHERE cycle <= $cycle AND design_id = (SELECT any_value(artifact_id) FROM champions WHERE line = 'designs'
  AND cycle = $cycle)
GROUP BY cycle, number, slot, term ORDER BY cycle, number"""
EXPECTED = """
WITH measured AS (
  SELECT design_id, fidelity, N, cycle, max_work, median_work, unsolved_fraction < 0.5 AS solved
  FROM designs.promoted_experiments WHERE cycle <= $cycle
), pairs AS (
  SELECT m.cycle AS measured_in, p.fidelity, p.N, p.expected_work, p.low_work, p.high_work, p.levels,
    m.median_work, m.max_work, m.solved,
    p.design_id
  FROM designs.extrapolations AS p JOIN measured AS m ON m.design_id = p.design_id
    AND m.fidelity = p.fidelity AND m.N = p.N AND m.cycle >= p.cycle
  WHERE p.expected_work IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY p.design_id, p.fidelity, m.cycle ORDER BY p.cycle DESC) = 1
)
SELECT pairs.measured_in AS cycle, any_value(known.title) AS title, pairs.fidelity, pairs.N,
  pairs.levels AS sizes_fitted,
  pairs.expected_work AS expected, pairs.low_work AS low, pairs.high_work AS high, CASE WHEN pairs.solved
    THEN pairs.median_work END AS measured,
  CASE WHEN pairs.solved THEN pairs.median_work BETWEEN pairs.low_work AND pairs.high_work
    WHEN pairs.max_work > pairs.high_work THEN false END AS inside,
  pairs.design_id AS design
FROM pairs LEFT JOIN known_artifacts AS known ON known.artifact_id = pairs.design_id GROUP BY ALL
  ORDER BY cycle DESC, pairs.N DESC, expected"""
"""`inside` is null where the size was not solved within a budget that the interval reaches beyond."""
ARRIVED = f"""
SELECT i.source, i.original_id AS number_there, coalesce(a.state, CASE WHEN i.state = 'read'
  THEN 'waiting' ELSE i.state END) AS state,
  a.cycle, {SHORTENED.format(text="coalesce(a.reason, i.reason)")} AS reason,
  a.design_id AS design
FROM designs.imports AS i LEFT JOIN designs.import_arrivals AS a ON a.bundle_id = i.bundle_id
  AND a.original_id = i.original_id AND i.state = 'read'
  AND a.cycle <= $cycle
WHERE i.since_cycle <= $cycle ORDER BY i.source, i.original_id"""


def coverage(expected: pl.DataFrame) -> str:
    """Return how many of the measured works are inside their intervals. expected: by EXPECTED."""
    known = expected["inside"].drop_nulls()
    open_ones = expected.height - known.len()
    beside = f", {open_ones} not decided" if open_ones else ""
    return (
        f"{int(known.sum())} of {known.len()} inside the 95% interval{beside}"
        if expected.height
        else "none yet"
    )
