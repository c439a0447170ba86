-- name: trials
SELECT t.*, known.title FROM designs.champion_trials AS t LEFT JOIN known_artifacts AS known
  ON known.artifact_id = t.design_id
WHERE t.cycle = $cycle ORDER BY t.part, t.pair

-- name: funnel
SELECT cycle, count(*) AS proposed, count(*) FILTER (state = 'blocked') AS blocked, count(*)
  FILTER (state = 'accepted') AS accepted
FROM designs.candidates WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle

-- name: blocked
SELECT gate, rule_id, count(*) AS blocked, any_value(regexp_replace(reason, '\b([0-9a-f]{12})[0-9a-f]{52}\b', '\1', 'g')) AS example
  FROM verdicts
WHERE outcome = 'block' AND cycle <= $cycle AND artifact_id IN (SELECT artifact_id FROM artifacts
  WHERE line = 'designs')
GROUP BY ALL ORDER BY blocked DESC, gate

-- name: yields
SELECT d.operator, count(*) AS proposed, count(*) FILTER (d.state = 'accepted') AS accepted,
  min(r.rank) AS best_rank
FROM designs.candidates AS d LEFT JOIN designs.final_ranking AS r ON r.design_id = d.design_id
  AND r.cycle = $cycle
WHERE d.cycle <= $cycle GROUP BY ALL
UNION ALL SELECT 'no usable reply', count(*), 0, NULL FROM designs.unmade WHERE cycle <= $cycle
  HAVING count(*) > 0
ORDER BY best_rank NULLS LAST, operator

-- name: top
SELECT r.rank, round(r.consensus, 4) AS consensus, any_value(d.title) AS title,
  any_value(d.operator) AS operator, r.largest_solved AS largest_n,
  round(r.median_work, 1) AS work_there, r.median_step AS steps_there, r.fidelity,
  bool_or(d.tuned) AS tuned, r.design_id AS design
FROM designs.final_ranking AS r JOIN designs.survivors AS d ON d.design_id = r.design_id
WHERE r.cycle = $cycle GROUP BY ALL ORDER BY r.rank LIMIT 12

-- name: objectives
SELECT round(weight, 4) AS weight, round(median_tau, 3) AS median_tau, round(multiplier, 3) AS multiplier,
  family, description
FROM designs.final_ranking_weights WHERE cycle = $cycle ORDER BY weight DESC, objective_id

-- name: weights
SELECT cycle, objective_id, family, weight FROM designs.final_ranking_weights WHERE cycle <= $cycle

-- name: tuning
SELECT t.cycle, any_value(known.title) AS title, count(*) - 1 AS trials, any_value(t.consensus)
  FILTER (t.trial = 0) AS consensus,
  min(t.consensus) AS at_best, any_value(t.largest_solved) FILTER (t.trial = 0) AS largest_n,
    arg_min(t.largest_solved, t.consensus) AS n_at_best,
  any_value(t.median_work) FILTER (t.trial = 0) AS work_there,
  arg_min(t.median_work, t.consensus) AS work_at_best, t.design_id AS design
FROM designs.tuning AS t LEFT JOIN known_artifacts AS known ON known.artifact_id = t.design_id
WHERE t.cycle <= $cycle GROUP BY t.cycle, t.design_id ORDER BY t.cycle DESC

-- name: reviews
SELECT cycle, any_value(research_phase) AS phase, any_value(research_assessment) AS assessment,
  any_value(guidance) AS guidance,
  count(*) FILTER (multiplier > multiplier_before) AS raised, count(*)
    FILTER (multiplier < multiplier_before) AS lowered
FROM designs.meta_review WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle DESC

-- name: analyses
SELECT a.short_name AS design, a.success_level, a.key_insight,
  a.comparison_to_references AS beside_its_references,
  a.recommended_next_steps AS next_steps
FROM designs.analyses AS a WHERE a.cycle = (SELECT max(cycle) FROM designs.analyses WHERE cycle <= $cycle)
  ORDER BY a.short_name

-- name: ablations
SELECT slot, term, max(effect) FILTER (kind = 'planted') AS on_planted, max(effect)
  FILTER (kind = 'uniform') AS on_uniform,
  round(max(ratio) FILTER (kind = 'planted'), 2) AS planted_ratio, round(max(ratio)
    FILTER (kind = 'uniform'), 2) AS uniform_ratio, any_value(N) AS N
FROM designs.champion_ablations
WHERE cycle <= $cycle AND design_id = (SELECT any_value(artifact_id) FROM champions WHERE line = 'designs'
  AND cycle = $cycle)
GROUP BY cycle, number, slot, term ORDER BY cycle, number

-- name: expected
-- `inside` is null where the size was not solved within a budget that the interval reaches beyond.
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
  ORDER BY cycle DESC, pairs.N DESC, expected

-- name: arrived
SELECT i.source, i.original_id AS number_there, coalesce(a.state, CASE WHEN i.state = 'read'
  THEN 'waiting' ELSE i.state END) AS state,
  a.cycle, regexp_replace(coalesce(a.reason, i.reason), '\b([0-9a-f]{12})[0-9a-f]{52}\b', '\1', 'g') AS reason,
  a.design_id AS design
FROM designs.imports AS i LEFT JOIN designs.import_arrivals AS a ON a.bundle_id = i.bundle_id
  AND a.original_id = i.original_id AND i.state = 'read'
  AND a.cycle <= $cycle
WHERE i.since_cycle <= $cycle ORDER BY i.source, i.original_id

-- name: decisions
SELECT * FROM designs.champion_decisions WHERE cycle = $cycle

-- name: consensus
SELECT * FROM designs.final_ranking WHERE cycle <= $cycle
