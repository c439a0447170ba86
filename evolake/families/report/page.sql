-- name: measured
SELECT c.* FROM families.complexity AS c JOIN (
  SELECT family_id FROM families.accepted WHERE cycle <= $cycle UNION SELECT family_id FROM families.seeds
    WHERE state = 'accepted'
  UNION SELECT artifact_id FROM families.immigrants WHERE state = 'accepted' AND cycle <= $cycle)
    USING (family_id)
WHERE c.cycle <= $cycle AND c.parsed QUALIFY row_number() OVER (PARTITION BY c.family_id
  ORDER BY c.cycle) = 1 ORDER BY c.cycle, c.family_id

-- name: made
WITH families AS (SELECT cycle, count(*) AS accepted FROM families.accepted GROUP BY cycle),
  instances AS (SELECT cycle, count(*) AS instances, count(*) FILTER (family_id IN (SELECT family_id
    FROM families.accepted)) AS of_evolved FROM families.instances GROUP BY cycle),
  tried AS (SELECT cycle, count(DISTINCT attempt) AS attempts, count(*) AS versions FROM families.candidates
    GROUP BY cycle),
  came AS (SELECT cycle, count(DISTINCT artifact_id) AS entered FROM families.immigrants
    WHERE state = 'accepted' GROUP BY cycle)
SELECT cycle, coalesce(attempts, 0) AS attempts, coalesce(versions, 0) AS versions, coalesce(accepted,
  0) AS accepted,
  coalesce(instances, 0) AS instances, coalesce(of_evolved, 0) AS of_evolved, coalesce(entered, 0) AS entered
FROM tried FULL JOIN families USING (cycle) FULL JOIN instances USING (cycle) LEFT JOIN came USING (cycle)
WHERE cycle <= $cycle
  ORDER BY cycle

-- name: came
SELECT cycle, name, state, artifact_id AS family_id, reason FROM families.immigrants WHERE cycle <= $cycle
  ORDER BY cycle, name

-- name: labels
SELECT count(*) AS instances, count(*) FILTER (2 * votes > voters) AS by_majority, count(*)
  FILTER (votes = voters) AS unanimous,
  count(DISTINCT text_sha) AS texts
FROM families.instances WHERE cycle <= $cycle

-- name: gates
SELECT gate, any_value(gate_no) AS gate_no, sum(came)::INTEGER AS came, sum(passed)::INTEGER AS passed
  FROM families.funnel
WHERE operator = 'all' AND cycle <= $cycle GROUP BY gate
ORDER BY list_position({order}, gate)

-- name: funnel
SELECT operator, sum(came) FILTER (gate = 'attempts')::INTEGER AS attempts, sum(passed)
  FILTER (gate = 'attempts')::INTEGER AS accepted,
  sum(came) FILTER (gate = '{first}')::INTEGER AS versions,
  {passed}
FROM families.funnel WHERE cycle <= $cycle GROUP BY operator ORDER BY operator <> 'all', operator

-- name: resources
SELECT outcome, sum(attempts)::INTEGER AS attempts, sum(versions)::INTEGER AS versions,
  sum(calls_mean * attempts) / sum(attempts) AS jail_calls,
    sum(cpu_s_mean * attempts) / sum(attempts) AS cpu_s,
  sum(wall_s_mean * attempts) / sum(attempts) AS wall_s, sum(tokens)::BIGINT AS tokens, sum(usd) AS usd
FROM families.resources WHERE cycle <= $cycle AND attempts > 0 GROUP BY outcome
ORDER BY list_position(['accepted', 'rejected', 'all'], outcome)

-- name: costs
SELECT coalesce(sum(usd), 0.0) AS usd
FROM calls WHERE line = $line AND cycle <= $cycle

-- name: blocked

-- name: yields
SELECT a.operator, count(*) AS accepted, count(*) FILTER (len(a.parents) > 1) AS of_two_parents,
  count(DISTINCT a.category) AS categories
FROM families.accepted AS a WHERE a.cycle <= $cycle GROUP BY ALL ORDER BY accepted DESC, a.operator

-- name: failures
SELECT kind, gate, rule_id, count(DISTINCT family_id) AS families, min(lesson) AS lesson FROM families.failures
WHERE cycle <= $cycle GROUP BY ALL ORDER BY families DESC, kind, rule_id

-- name: dropped
SELECT reason, sum(instances)::INTEGER AS instances FROM families.dropped_instances WHERE cycle <= $cycle GROUP BY ALL ORDER BY reason

-- name: reviews
SELECT matches, count(*) AS families FROM (
  SELECT cycle, family_id, count(*) FILTER (matched) AS matches FROM families.blind_reviews
    WHERE cycle <= $cycle AND reviewer <> 'text' GROUP BY ALL
) GROUP BY matches ORDER BY matches

-- name: examples
SELECT a.operator, a.title, a.family_id, a.category, i.difficulty, i.text, i.answer, i.votes, i.voters
FROM families.accepted AS a JOIN families.instances AS i ON i.family_id = a.family_id AND i.cycle = a.cycle
  WHERE a.cycle = $cycle
QUALIFY row_number() OVER (PARTITION BY a.operator ORDER BY length(i.text), i.instance_id) = 1
  ORDER BY a.operator
