-- Which operator, driven by which model, gives the most accepted artifacts of each kind in a line? Attempts that created none are the last row, `nothing`.
WITH own AS (SELECT artifact_id FROM artifacts_all WHERE line = $line GROUP BY artifact_id HAVING min(cycle) > '0000'),
edges AS (SELECT DISTINCT child_id AS artifact_id, operator FROM derivations),
drivers AS (SELECT artifact_id, max(model) AS model, max(backend) AS backend FROM calls GROUP BY artifact_id),
tried AS (SELECT kind, coalesce(operator, 'without a parent') AS operator, coalesce(model, backend, 'operators') AS model, count(*) AS attempts, attempts AS made,
        count(*) FILTER (state IN ('accepted', 'champion', 'retired')) AS accepted
    FROM own JOIN known_artifacts USING (artifact_id) LEFT JOIN edges USING (artifact_id) LEFT JOIN drivers USING (artifact_id) GROUP BY ALL
    UNION ALL SELECT NULL, 'nothing', NULL, sum(rows)::BIGINT, 0, 0 FROM parts WHERE line = $line AND asset = 'unmade' AND state = 'current' HAVING sum(rows) > 0)
SELECT kind, operator, model, attempts, made, accepted, accepted / attempts AS yield, accepted / sum(attempts) OVER () AS share_of_attempts
FROM tried ORDER BY made = 0, yield DESC, made DESC, kind, operator, model;
