-- name: runs
SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.smoke UNION ALL
SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.correctness UNION ALL
SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.stability_runs UNION ALL
SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.benchmark_runs UNION ALL
SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.holdout_runs UNION ALL
SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.champion_trials UNION ALL
SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.gate_runs WHERE gate = 'trial'

-- name: made
SELECT count(*) AS made, (SELECT count(DISTINCT artifact_id) FROM solvers.immigrants WHERE cycle = $cycle
  AND state <> 'present') AS entered
FROM solvers.variants WHERE cycle = $cycle

-- name: ran
SELECT count(*) AS runs, count(DISTINCT variant_id) AS variants, count(*)
  FILTER ({verified}) AS verified,
  count(*) FILTER ({unsat}) AS unsat, count(*) FILTER ({unchecked}) AS unchecked,
  count(*) FILTER ({unsound}) AS wrong FROM ({runs}) WHERE cycle = $cycle

-- name: rank_1
SELECT r.variant_id, coalesce(known.title, r.variant_id[:12]) AS title FROM solvers.consensus_ranking AS r
LEFT JOIN known_artifacts AS known ON known.artifact_id = r.variant_id WHERE r.cycle = $cycle ORDER BY r.rank
  LIMIT 1

-- name: duels
SELECT * FROM solvers.champion WHERE cycle <= $cycle

-- name: seconds
SELECT cycle, sum(cpu_s) AS cpu_s FROM (SELECT cycle, cpu_s FROM ({runs}) UNION ALL SELECT cycle, cpu_s
  FROM solvers.binaries)
WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle

-- name: par2
SELECT champions.cycle, any_value(m.par2) AS par2 FROM champions
JOIN solvers.metrics AS m ON m.cycle = champions.cycle AND m.variant_id = champions.artifact_id
WHERE champions.line = 'solvers' AND champions.cycle <= $cycle GROUP BY champions.cycle
  ORDER BY champions.cycle

-- name: control
SELECT * FROM solvers.control WHERE cycle = $cycle

-- name: counted
SELECT count(*)::INTEGER AS runs FROM ({runs}) WHERE cycle <= $cycle
