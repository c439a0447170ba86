-- Whom does a walk from an artifact meet, towards its ancestors or (`down`) its descendants, the blocked and the superseded included? Itself left out.
-- The walk is along the edges of `lineage`, and ends also where the graph has a loop. Of the artifacts only those met are looked at.
CREATE MACRO relatives(id, down) AS TABLE
WITH walk AS MATERIALIZED (SELECT unnest(reached(id, down)) AS artifact_id),
met AS MATERIALIZED (SELECT artifact_id FROM walk WHERE artifact_id <> id),
known AS (
    SELECT artifact_id, line, kind, cycle, state, title FROM artifacts_all SEMI JOIN met USING (artifact_id)
    QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY superseded, cycle DESC, state_rank(state) DESC, created_at DESC) = 1
)
SELECT artifact_id, line, kind, cycle, state, title FROM met LEFT JOIN known USING (artifact_id);
