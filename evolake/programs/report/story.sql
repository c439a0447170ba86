-- name: runs
SELECT cycle, program_id, status, cpu_s FROM programs.measured UNION ALL SELECT cycle, program_id, status, cpu_s FROM programs.heldout

-- name: ran
SELECT count(*) AS runs, count(DISTINCT program_id) AS programs, count(*) FILTER (status <> 'ok') AS failed
  FROM ({runs}) WHERE cycle = $cycle

-- name: seconds
SELECT cycle, sum(cpu_s) AS cpu_s FROM (SELECT cycle, cpu_s FROM ({runs}) UNION ALL SELECT cycle, cpu_s FROM programs.baseline
  UNION ALL SELECT cycle, cpu_s FROM programs.simplified)
WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle

-- name: living
-- Of the population that was sealed: the summary is written before the cycle's last asset publishes its own table.
SELECT count(*) AS living FROM programs.incoming_programs
WHERE CAST(cycle AS INTEGER) = CAST($cycle AS INTEGER) + 1 AND state IN ('accepted', 'champion')

-- name: trend
SELECT c.cycle, c.holder_mean, c.wins, c.difference, p.higher_is_better FROM programs.champion AS c
  LEFT JOIN programs.projects AS p USING (cycle, project)
WHERE project = $project AND cycle <= $cycle ORDER BY cycle

-- name: counted
SELECT count(*)::INTEGER AS runs FROM ({runs}) WHERE cycle <= $cycle
