-- name: runs
SELECT cycle, program_id, status, cpu_s FROM programs.measured UNION ALL SELECT cycle, program_id, status, cpu_s FROM programs.heldout

-- name: ran
SELECT count(*) AS runs, count(DISTINCT program_id) AS programs, count(*) FILTER (status <> 'ok') AS failed
  FROM ({runs}) WHERE cycle = $cycle

-- name: seconds
SELECT cycle, sum(cpu_s) AS cpu_s FROM ({runs}) WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle

-- name: living
-- Of the population that was sealed: the summary is written before the cycle's last asset publishes its own table.
SELECT count(*) AS living FROM programs.incoming_programs
WHERE CAST(cycle AS INTEGER) = CAST($cycle AS INTEGER) + 1 AND state IN ('accepted', 'champion')

-- name: trend
SELECT cycle, holder_mean FROM programs.champion WHERE project = $project AND cycle <= $cycle
  AND holder_mean IS NOT NULL ORDER BY cycle

-- name: counted
SELECT count(*)::INTEGER AS runs FROM ({runs}) WHERE cycle <= $cycle
