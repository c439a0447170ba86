-- name: champions
SELECT project, holder_id[:12] AS champion, holder_mean AS held_out_score, holder_low AS low,
  holder_high AS high, initial_mean AS initial,
  noise, wins, CASE WHEN protected THEN 'yes' ELSE 'score not protected' END AS protected, reason
FROM programs.champion WHERE cycle = $cycle ORDER BY project

-- name: baselines
SELECT project, search, program_id[:12] AS best, score, heldout_mean AS held_out_score, evaluations, cpu_s, total_cpu_s, line_total_cpu_s
FROM programs.baseline WHERE cycle = $cycle ORDER BY project, search

-- name: simplified
SELECT project, program_id[:12] AS champion, simplified_id[:12] AS simplified, size, simplified_size, trials, pairs, difference, reason
FROM programs.simplified WHERE cycle = $cycle ORDER BY project

-- name: projects
SELECT project, mode, score_name, higher_is_better, living, note FROM programs.projects WHERE cycle = $cycle ORDER BY project

-- name: gates
SELECT gate, count(*) AS judged, count(*) FILTER (NOT passed) AS blocked FROM (
  SELECT artifact_id, gate_no, gate, bool_and(outcome = 'pass') AS passed FROM verdicts
  WHERE cycle = $cycle AND artifact_id IN (SELECT program_id FROM programs.candidates WHERE cycle = $cycle)
    GROUP BY ALL)
GROUP BY gate, gate_no ORDER BY gate_no

-- name: operators
SELECT project, operator, count(*) AS made, count(*) FILTER (state <> 'blocked') AS passed,
  count(*) FILTER (state IN ('accepted', 'champion')) AS lived
FROM programs.candidates WHERE cycle <= $cycle GROUP BY ALL ORDER BY project, lived DESC, operator

-- name: blocked
SELECT project, gate, rule_id, reason, count(*) AS times FROM programs.accepted WHERE cycle <= $cycle
  AND NOT passed GROUP BY ALL
ORDER BY times DESC, project, gate, rule_id, reason LIMIT 30

-- name: front
SELECT project, program_id[:12] AS program, operator, score, metrics, size, state FROM programs.survivors
  WHERE cycle = $cycle AND front
ORDER BY project, score DESC LIMIT 30

-- name: decided
-- A row of DECISIONS per project, with the name and direction of its score, its initial program, and the better of the dumb searches with
-- the processor seconds of the one that took most, in all cycles.
SELECT c.*, p.score_name, p.higher_is_better, p.initial_id, b.* EXCLUDE (cycle, project) FROM programs.champion AS c
  JOIN programs.projects AS p USING (cycle, project)
  LEFT JOIN (SELECT cycle, project, max(heldout_mean) AS baseline_mean, max(total_cpu_s) AS baseline_cpu_s, string_agg(search, ',' ORDER BY search) AS searches, any_value(line_total_cpu_s) AS line_cpu_s FROM programs.baseline GROUP BY ALL) AS b USING (cycle, project)
WHERE cycle = $cycle ORDER BY project
