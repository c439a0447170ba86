-- Whom does a walk from an artifact meet, towards its ancestors or (`down`) its descendants, the blocked and the superseded included? Itself left out.
-- The edges are gathered once; the walk ends also where the graph has a loop. Of the artifacts only those met are looked at.
CREATE MACRO relatives(id, down) AS TABLE
WITH edges AS (SELECT list(child_id) AS children, list(parent_id) AS parents FROM lineage WHERE child_id IS NOT NULL AND parent_id IS NOT NULL),
walk AS MATERIALIZED (SELECT unnest(CASE WHEN down THEN reached(id, parents, children) ELSE reached(id, children, parents) END) AS artifact_id FROM edges),
met AS MATERIALIZED (SELECT artifact_id FROM walk WHERE artifact_id <> id),
known AS (
    SELECT artifact_id, line, kind, cycle, state, title FROM artifacts_all SEMI JOIN met USING (artifact_id)
    QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY superseded, cycle DESC, state_rank(state) DESC, created_at DESC) = 1
)
SELECT artifact_id, line, kind, cycle, state, title FROM met LEFT JOIN known USING (artifact_id);
