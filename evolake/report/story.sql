-- name: before
SELECT coalesce(known.title, champions.artifact_id[:12]) AS title FROM champions LEFT
  JOIN known_artifacts AS known USING (artifact_id)
WHERE champions.line = $line AND champions.cycle < $since AND champions.cycle > '0000'
  ORDER BY champions.cycle DESC LIMIT 1

-- name: made
-- if the line has a champion, only artifacts of its kind
WITH own AS (
  SELECT artifact_id, cycle, state FROM artifacts WHERE line = $line AND cycle <= $cycle AND ($kind IS NULL
    OR kind = $kind)
), latest AS (
  SELECT state FROM own QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY cycle DESC,
    state_rank(state) DESC) = 1)
SELECT count(DISTINCT artifact_id) FILTER (cycle = $cycle AND state NOT IN ('champion', 'retired')) AS made,
  count(DISTINCT artifact_id) FILTER (cycle = $cycle AND state IN ('accepted', 'candidate')
    AND artifact_id NOT IN (
    SELECT artifact_id FROM own WHERE cycle = $cycle AND state = 'blocked')) AS passed,
  (SELECT count(*) FROM latest WHERE state IN ('accepted', 'champion')) AS live FROM own

-- name: gates
SELECT gate AS name, came, (blocked + errors)::INTEGER AS stopped FROM funnel($line) WHERE cycle = $cycle ORDER BY gate_no NULLS FIRST, gate

-- name: blocks
SELECT rule_id AS rule, count(DISTINCT artifact_id)::INTEGER AS stopped, min(reason) AS reason FROM verdicts
WHERE outcome = 'block' AND cycle = $cycle AND artifact_id IN (SELECT artifact_id FROM artifacts
  WHERE line = $line)
GROUP BY rule_id ORDER BY stopped DESC, rule LIMIT 3

-- name: calls
SELECT cycle, count(*)::INTEGER AS calls, coalesce(sum(input_tokens + output_tokens), 0)::BIGINT AS tokens,
  coalesce(sum(usd), 0.0) AS usd,
  count(*) FILTER (usd IS NULL) > 0 AS unpriced FROM calls WHERE line = $line AND cycle <= $cycle
    GROUP BY cycle ORDER BY cycle

-- name: attempts
-- a session is one reply, however many turns it took
WITH turned AS (SELECT DISTINCT call_id, session_id FROM session_turns),
ended AS (SELECT session_id, coalesce(max(outcome), 'unfinished') AS outcome FROM session_turns
  GROUP BY session_id),
replies AS (
  SELECT DISTINCT calls.cycle, calls.role, coalesce(turned.session_id, calls.call_id) AS reply,
    CASE WHEN ended.outcome = 'finished' THEN 'ok' ELSE coalesce(ended.outcome, calls.status) END AS status
  FROM calls LEFT JOIN turned USING (call_id) LEFT JOIN ended USING (session_id) WHERE calls.line = $line
    AND calls.cycle <= $cycle)
SELECT cycle, role, status, count(*)::INTEGER AS attempts FROM replies GROUP BY ALL ORDER BY ALL

-- name: seconds
SELECT origin_cycle AS cycle, sum(cpu_s) AS cpu_s FROM evaluations_all
WHERE origin_line = $line AND origin_cycle <= $cycle AND superseded = false AND cpu_s IS NOT NULL
  GROUP BY origin_cycle ORDER BY origin_cycle
