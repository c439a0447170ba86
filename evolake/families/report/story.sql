-- name: began
SELECT '0000' AS cycle, family_id FROM families.seeds WHERE state = 'accepted'
UNION ALL SELECT DISTINCT cycle, artifact_id FROM families.immigrants WHERE state = 'accepted'
UNION ALL SELECT cycle, family_id FROM families.accepted

-- name: live
SELECT count(DISTINCT family_id) AS families FROM ({began}) WHERE cycle <= $cycle

-- name: came
-- those that cannot be read come to no gate
SELECT count(DISTINCT artifact_id) AS judged, count(DISTINCT artifact_id)
  FILTER (state = 'accepted') AS accepted
FROM families.immigrants WHERE cycle = $cycle AND state <> 'present'

-- name: labels
SELECT count(*) AS instances, count(*) FILTER (2 * votes > voters) AS by_majority, count(*)
  FILTER (votes = voters) AS unanimous
FROM families.instances WHERE cycle = $cycle

-- name: survival
SELECT count(*) FILTER (NOT lives) AS retired, count(*) FILTER (NOT lives AND before = 'accepted') AS going,
  count(*) FILTER (lives AND before = 'retired') AS back FROM families.survival WHERE cycle = $cycle

-- name: seconds
SELECT cycle, cpu_s_mean * attempts AS cpu_s FROM families.resources WHERE outcome = 'all'
  AND cycle <= $cycle ORDER BY cycle

-- name: growth
SELECT cycle, (sum(n) OVER (ORDER BY cycle))::INTEGER AS families FROM (
  SELECT cycle, count(family_id) AS n FROM ({began} UNION ALL SELECT DISTINCT cycle, NULL
    FROM families.candidates)
  WHERE cycle <= $cycle GROUP BY cycle) ORDER BY cycle

-- name: seeds
SELECT count(*)::INTEGER AS judged, (count(*) FILTER (state = 'accepted'))::INTEGER AS accepted FROM families.seeds

-- name: judged
SELECT count(*)::INTEGER AS versions FROM families.candidates WHERE cycle <= $cycle

-- name: attempts
SELECT cycle, number, family_id, operator, title, idea, outcome, reason FROM families.ideas ORDER BY cycle, number

-- name: family
-- Families whose id begins so, as the newest population has them, and those that were only candidates.
SELECT family_id, state, cycle, title, category, language, operator, origin, parents, instances, gate,
  rule_id, reason
FROM (
  SELECT 1 AS place, family_id, state, cycle, title, category, language, operator, origin, parents,
    instances, gate, rule_id, reason
  FROM families.candidates WHERE starts_with(family_id, $id)
  UNION ALL
  SELECT 0, family_id, state, cycle, title, category, language, operator, origin, parents, instances, gate,
    rule_id, reason
  FROM families.incoming_families WHERE starts_with(family_id, $id)
)
QUALIFY row_number() OVER (PARTITION BY family_id ORDER BY place, cycle DESC) = 1

-- name: verdicts
SELECT cycle, gate_no, gate, rule_id, outcome, reason FROM verdicts WHERE artifact_id = $id ORDER BY cycle, gate_no, rule_id

-- name: ideas
SELECT idea, outcome, reason FROM families.ideas WHERE family_id = $id ORDER BY cycle DESC, number
