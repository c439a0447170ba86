-- From whom does an artifact descend, the blocked and the superseded included? Itself left out.
-- The edges are gathered once, before the walk; UNION ends the walk also where the graph has a loop.
CREATE MACRO ancestors(id) AS TABLE
WITH RECURSIVE edges AS MATERIALIZED (SELECT DISTINCT child_id, parent_id FROM lineage),
walk(artifact_id) AS (
    SELECT parent_id FROM edges WHERE child_id = id
    UNION
    SELECT edges.parent_id FROM walk JOIN edges ON edges.child_id = walk.artifact_id
)
SELECT walk.artifact_id, known.line, known.kind, known.cycle, known.state, known.title
FROM walk LEFT JOIN known_artifacts AS known USING (artifact_id)
WHERE walk.artifact_id <> id
ORDER BY known.cycle DESC NULLS LAST, walk.artifact_id;
