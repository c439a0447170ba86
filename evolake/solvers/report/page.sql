-- name: top
SELECT r.rank, round(r.consensus, 4) AS consensus, v.title, v.base, v.operator, r.solved, round(r.par2,
  3) AS par2_s,
  CASE WHEN r.variant_id = $champion THEN 'champion' WHEN d.wins THEN 'won' WHEN d.ratio_high < 1 THEN 'lost'
    WHEN d.challenger_id IS NOT NULL THEN 'undecided' ELSE '' END AS duel,
  round(m.checked_share, 3) AS checked_share, r.variant_id AS variant
FROM solvers.consensus_ranking AS r
JOIN (SELECT variant_id, title, base, operator FROM solvers.seeds UNION SELECT variant_id, title, base,
  operator FROM solvers.variants) AS v
USING (variant_id) LEFT JOIN solvers.metrics AS m ON m.variant_id = r.variant_id AND m.cycle = r.cycle
LEFT JOIN solvers.champion AS d ON d.challenger_id = r.variant_id AND d.cycle = r.cycle
WHERE r.cycle = $cycle ORDER BY r.rank LIMIT 12

-- name: funnel
SELECT cycle, coalesce(max(unmade), 0)::INTEGER AS unmade, coalesce(max(came) FILTER (gate_no >= 0),
  0) AS came,
  {passed},
  coalesce(sum(blocked) FILTER (gate_no >= 0), 0)::INTEGER AS blocked, sum(errors)::INTEGER AS errors
FROM funnel($line) LEFT JOIN (SELECT cycle, count(*) AS unmade FROM solvers.unmade GROUP BY cycle)
  USING (cycle)
WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle

-- name: blocked

-- name: proposals
SELECT cycle, rule_id AS rule, version, lesson, state, reason FROM solvers.rule_proposals WHERE cycle <= $cycle
ORDER BY state <> 'active', cycle DESC, rule_id, version

-- name: rule_metrics
SELECT cycle, metric, value FROM solvers.rule_metrics WHERE rule_id IS NULL AND cycle <= $cycle ORDER BY cycle, metric

-- name: kills
SELECT rule_id AS rule, cycle, value AS kill_rate FROM solvers.rule_metrics
WHERE rule_id IS NOT NULL AND value > 0 AND cycle <= $cycle ORDER BY cycle, kill_rate DESC, rule

-- name: findings
SELECT title, lesson, explanation, len(evidence) AS variants FROM solvers.post_mortem WHERE cycle = $cycle ORDER BY finding_id

-- name: yields
SELECT operator, attempts, made, passed_every_gate, repairs, best_rank_now FROM (
SELECT v.operator, count(*) AS attempts, count(*) AS made, count(*)
  FILTER (b.variant_id IS NOT NULL) AS passed_every_gate, sum(v.repairs) AS repairs,
  min(r.rank) AS best_rank_now
FROM solvers.variants AS v LEFT JOIN (SELECT DISTINCT variant_id FROM solvers.benchmark_runs) AS b
  USING (variant_id)
LEFT JOIN solvers.consensus_ranking AS r ON r.variant_id = v.variant_id AND r.cycle = $cycle
WHERE v.cycle <= $cycle GROUP BY ALL
UNION ALL SELECT 'no variant', count(*), 0, 0, NULL, NULL FROM solvers.unmade WHERE cycle <= $cycle
  HAVING count(*) > 0
) ORDER BY made = 0, best_rank_now NULLS LAST, operator

-- name: builds
SELECT v.base, count(*) AS builds, count(*) FILTER (NOT b.passed) AS failed, round(avg(b.cpu_s),
  1) AS cpu_s_each, round(sum(b.cpu_s), 1) AS cpu_s
FROM solvers.binaries AS b JOIN solvers.variants AS v USING (variant_id) WHERE b.cycle <= $cycle GROUP BY ALL
  ORDER BY v.base
