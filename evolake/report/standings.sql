-- name: evaluated
SELECT count(*)::INTEGER AS evaluations FROM evaluations_all WHERE origin_line = $line AND NOT superseded

-- name: took
SELECT sum(seconds) AS seconds FROM (
  SELECT epoch(max(created_at)) - epoch(min(created_at)) AS seconds FROM parts WHERE line = $line
    GROUP BY run_id)

-- name: counted
-- Artifacts that were ever accepted (a champion or a retired one was), and those that were ever blocked.
SELECT count(DISTINCT artifact_id) FILTER (state IN ('accepted', 'champion', 'retired')),
  count(DISTINCT artifact_id) FILTER (state = 'blocked')
FROM artifacts WHERE line = $line

-- name: proved
-- Answers of measured runs, those with a certificate, and whether proofs are among them.
SELECT count(*) FILTER (e.status IN ('solved', 'unsolved')), count(*) FILTER (e.status = 'solved'
  AND e.certificate IS NOT NULL),
  coalesce(bool_or(e.certificate = 'proof'), false)
FROM evaluations AS e WHERE e.artifact_id IN (SELECT artifact_id FROM artifacts WHERE line = $line)
