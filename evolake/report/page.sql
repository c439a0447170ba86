-- name: states
SELECT cycle, count(DISTINCT artifact_id) AS made, count(DISTINCT artifact_id)
  FILTER (state = 'blocked') AS blocked
FROM artifacts WHERE line = $line AND state NOT IN ('champion', 'retired') AND cycle <= $cycle GROUP BY cycle
  ORDER BY cycle

-- name: gates
SELECT * FROM funnel($line) WHERE cycle <= $cycle

-- name: blocked
SELECT gate, rule_id, count(DISTINCT artifact_id) AS blocked, min(reason) AS example FROM verdicts
  JOIN known_artifacts AS known USING (artifact_id)
WHERE known.line = $line AND outcome = 'block' AND verdicts.cycle <= $cycle GROUP BY ALL
  ORDER BY blocked DESC, gate, rule_id

-- name: calls
SELECT role, backend, coalesce(model, '') AS model, count(*) AS calls,
  sum(input_tokens + output_tokens) AS tokens, sum(usd) AS usd
FROM calls WHERE line = $line AND cycle <= $cycle GROUP BY ALL ORDER BY role, backend, model

-- name: backends
SELECT DISTINCT backend FROM calls WHERE line = $line AND cycle = $cycle ORDER BY backend
