-- Which operator, driven by which model, gives the most accepted artifacts in a line? What was attempted and made none stands last, as `nothing`.
WITH children AS (SELECT DISTINCT child_id AS artifact_id, operator FROM derivations),
drivers AS (SELECT artifact_id, max(model) AS model, max(backend) AS backend FROM calls GROUP BY artifact_id),
tried AS (SELECT operator, coalesce(drivers.model, drivers.backend, 'operators') AS model, count(*) AS attempts, count(*) AS made,
        count(*) FILTER (known.state IN ('accepted', 'champion', 'retired')) AS accepted
    FROM children JOIN known_artifacts AS known USING (artifact_id) LEFT JOIN drivers USING (artifact_id) WHERE known.line = $line GROUP BY ALL
    UNION ALL SELECT 'nothing', NULL, sum(parts.rows)::BIGINT, 0, 0
    FROM parts WHERE parts.line = $line AND parts.asset = 'unmade' AND parts.state = 'current' HAVING sum(parts.rows) > 0)
SELECT operator, model, attempts, made, accepted, accepted / attempts AS yield, accepted / sum(attempts) OVER () AS share_of_attempts
FROM tried ORDER BY made = 0, yield DESC, made DESC, operator, model;
