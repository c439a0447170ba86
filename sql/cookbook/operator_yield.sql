-- Which operator, driven by which model, gives the most accepted artifacts in a line?
WITH children AS (SELECT DISTINCT child_id AS artifact_id, operator FROM derivations),
drivers AS (SELECT artifact_id, max(model) AS model, max(backend) AS backend FROM calls GROUP BY artifact_id)
SELECT operator, coalesce(drivers.model, drivers.backend, 'operators') AS model, count(*) AS made,
    count(*) FILTER (known.state IN ('accepted', 'champion', 'retired')) AS accepted, accepted / made AS yield
FROM children JOIN known_artifacts AS known USING (artifact_id) LEFT JOIN drivers USING (artifact_id)
WHERE known.line = $line
GROUP BY ALL ORDER BY yield DESC, made DESC, operator, model;
