-- Who descends from an artifact, the blocked and the superseded included? Itself left out.
CREATE MACRO descendants(id) AS TABLE
WITH RECURSIVE edges AS MATERIALIZED (SELECT DISTINCT child_id, parent_id FROM lineage),
walk(artifact_id) AS (
    SELECT child_id FROM edges WHERE parent_id = id
    UNION
    SELECT edges.child_id FROM walk JOIN edges ON edges.parent_id = walk.artifact_id
)
SELECT walk.artifact_id, known.line, known.kind, known.cycle, known.state, known.title
FROM walk LEFT JOIN known_artifacts AS known USING (artifact_id)
WHERE walk.artifact_id <> id
ORDER BY known.cycle NULLS LAST, walk.artifact_id;
