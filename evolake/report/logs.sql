-- name: opened
SELECT opened.profile, opened.backend, opened.models, opened.root_seed, parts.created_at AS began
FROM {own}.opened AS opened JOIN parts ON parts.line = $line AND parts.asset = 'opened'
  AND parts.cycle = opened.cycle AND parts.state = 'current'
WHERE opened.cycle = $cycle

-- name: sealed
SELECT seals."at" AS sealed_at FROM seals WHERE line = $line AND cycle = $next AND state = 'sealed' ORDER BY sealed_at DESC LIMIT 1

-- name: scored
SELECT artifact_id, min(kind) AS kind FROM artifacts_all WHERE line = $line GROUP BY artifact_id
HAVING min(cycle) = $cycle ORDER BY min(created_at), artifact_id

-- name: title
SELECT 'score' AS name, score FROM champions WHERE line = $line AND cycle = $cycle

-- name: published
-- when the rows of a table of the cycle were published
SELECT asset, created_at AS ended FROM parts WHERE line = $line AND cycle = $cycle AND state = 'current'

-- name: calls
SELECT role AS what, call_id, artifact_id, latency_s AS seconds, ended, backend, model, status, input_tokens,
  cached_tokens, output_tokens, usd
FROM agent_calls_all JOIN ({published}) ON asset = origin_asset
WHERE origin_line = $line AND origin_cycle = $cycle AND NOT superseded ORDER BY call_id

-- name: gates
SELECT gate AS what, artifact_id, NULL AS seconds, min(coalesce(judged_at, ended)) AS ended, gate_no,
  count(*) FILTER (outcome IN ('block', 'error')) > 0 AS blocked, max(nullif(reason, '')) AS reason
FROM verdicts_all JOIN ({published}) ON asset = origin_asset
WHERE origin_line = $line AND origin_cycle = $cycle AND NOT superseded
GROUP BY artifact_id, gate, gate_no ORDER BY artifact_id, gate_no, gate

-- name: evaluations
SELECT suite AS what, artifact_id, wall_s AS seconds, ended, instance, seed, status, cpu_s
FROM evaluations_all JOIN ({published}) ON asset = origin_asset
WHERE origin_line = $line AND origin_cycle = $cycle AND NOT superseded
ORDER BY artifact_id, suite, instance, seed
