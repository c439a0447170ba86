-- name: made
SELECT count(*) FILTER (cycle = $cycle) AS made, count(*) FILTER (cycle = $cycle
  AND state = 'accepted') AS passed,
  (SELECT count(DISTINCT artifact_id) FROM artifacts WHERE line = 'designs' AND kind = 'design'
    AND state <> 'blocked' AND cycle <= $cycle) AS live,
  (SELECT count(*) FROM designs.final_ranking_weights WHERE cycle = $cycle) AS voting,
  (SELECT count(*) FROM designs.tuned_designs WHERE cycle = $cycle) AS tuned,
  (SELECT count(DISTINCT artifact_id) FROM designs.immigrants WHERE cycle = $cycle
    AND state <> 'present') AS entered
FROM designs.candidates

-- name: decisions
SELECT d.*, known.title FROM designs.champion_decisions AS d LEFT JOIN known_artifacts AS known
  ON known.artifact_id = d.challenger_id
WHERE d.cycle = $cycle

-- name: runs
-- All runs; those that authors asked for count as runs, and not as designs that were judged.
SELECT cycle, design_id, N, cpu_s FROM designs.experiments UNION ALL
SELECT cycle, design_id, N, cpu_s FROM designs.promoted_experiments UNION ALL
SELECT cycle, design_id, N, cpu_s FROM designs.champion_trials UNION ALL
SELECT cycle, NULL, NULL, cpu_s FROM designs.trials

-- name: ran
SELECT count(DISTINCT design_id) AS designs, count(*) AS runs, max(N) AS largest FROM ({runs}) WHERE cycle = $cycle

-- name: seconds
SELECT cycle, sum(cpu_s) AS cpu_s FROM ({runs}) WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle

-- name: ratios
SELECT champions.cycle, coalesce(any_value(d.ratio), 1.0) AS ratio FROM champions
LEFT JOIN designs.champion_decisions AS d ON d.cycle = champions.cycle AND d.comparison = 'baseline'
WHERE champions.line = 'designs' AND champions.cycle <= $cycle AND champions.cycle > '0000'
  GROUP BY champions.cycle ORDER BY champions.cycle

-- name: counted
SELECT count(*)::INTEGER AS runs FROM ({runs}) WHERE cycle <= $cycle

-- name: work
SELECT trials.design_id = decided.challenger_id AS is_champion, any_value(trials.N) AS N,
  bool_and(trials.solved) AS solved,
  median(trials.work_per_step * CASE WHEN trials.solved THEN trials.median_step
    WHEN trials.timed_out THEN trials.steps_run
    ELSE trials.max_steps END) AS work
FROM designs.champion_trials AS trials JOIN designs.champion_decisions AS decided
  ON decided.cycle = trials.cycle AND decided.comparison = 'baseline' AND decided.N = trials.N
WHERE trials.cycle = $cycle AND trials.design_id IN (decided.challenger_id,
  decided.incumbent_id) GROUP BY ALL
