-- From whom does an artifact descend, the blocked and the superseded included? Itself left out.
-- The edges are gathered once, before the walk; UNION ends the walk also where the graph has a loop. Of the artifacts only those met are looked at.
CREATE MACRO ancestors(id) AS TABLE
WITH RECURSIVE edges AS MATERIALIZED (SELECT child_id, parent_id FROM lineage),
walk(artifact_id) AS (
    SELECT parent_id FROM edges WHERE child_id = id
    UNION
    SELECT edges.parent_id FROM walk JOIN edges ON edges.child_id = walk.artifact_id
),
met AS MATERIALIZED (SELECT artifact_id FROM walk WHERE artifact_id <> id),
known AS (
    SELECT artifact_id, line, kind, cycle, state, title FROM artifacts_all SEMI JOIN met USING (artifact_id)
    QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY superseded, cycle DESC, standing(state) DESC, created_at DESC) = 1
)
SELECT artifact_id, line, kind, cycle, state, title FROM met LEFT JOIN known USING (artifact_id)
ORDER BY cycle, artifact_id;
