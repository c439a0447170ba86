-- name: trained
SELECT count(*) AS iterations, count(*) FILTER (updated) AS updated, coalesce(sum(rollouts),
  0)::INTEGER AS rollouts,
  coalesce(sum(correct), 0)::INTEGER AS correct FROM prompts.updates WHERE cycle = $cycle

-- name: duels
SELECT * FROM prompts.champion WHERE cycle = $cycle ORDER BY challenger_id

-- name: live
SELECT count(DISTINCT artifact_id) AS live FROM artifacts WHERE line = 'prompts' AND state <> 'blocked' AND cycle <= $cycle

-- name: solved
SELECT h.cycle, avg(h.correct::INTEGER) AS share FROM prompts.heldout AS h
JOIN champions ON champions.line = 'prompts' AND champions.cycle = h.cycle
  AND champions.artifact_id = h.prompt_id
WHERE h.cycle <= $cycle AND h.iteration > 0 GROUP BY h.cycle ORDER BY h.cycle

-- name: counted
SELECT ((SELECT coalesce(sum(rollouts), 0) FROM prompts.updates WHERE cycle <= $cycle)
  + (SELECT count(*) FROM prompts.duel_replies WHERE cycle <= $cycle)
  + (SELECT count(*) FROM prompts.heldout WHERE cycle <= $cycle))::INTEGER AS replies
