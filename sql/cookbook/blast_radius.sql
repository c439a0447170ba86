-- What does run $run_id affect: the artifacts that it created and all their descendants, by line, cycle and state?
WITH RECURSIVE edges AS MATERIALIZED (SELECT DISTINCT child_id, parent_id FROM lineage),
touched(artifact_id) AS (
    SELECT artifact_id FROM artifacts_all WHERE run_id = $run_id
    UNION SELECT edges.child_id FROM touched JOIN edges ON edges.parent_id = touched.artifact_id
)
SELECT known.line, known.cycle, known.state, count(*) AS artifacts
FROM touched JOIN known_artifacts AS known USING (artifact_id)
GROUP BY ALL ORDER BY known.line, known.cycle, known.state;
