-- Which artifacts does a way lead to from one, towards its ancestors or (`down`) its descendants, each once? For files that other tools open; `evolake sql` has a function that is quicker.
CREATE MACRO reached(start, down) AS (
    WITH RECURSIVE edges AS MATERIALIZED (
        SELECT CASE WHEN down THEN parent_id ELSE child_id END AS source, CASE WHEN down THEN child_id ELSE parent_id END AS target
        FROM lineage WHERE child_id IS NOT NULL AND parent_id IS NOT NULL
    ),
    walk(artifact_id) AS (
        SELECT target FROM edges WHERE source = start
        UNION
        SELECT edges.target FROM walk JOIN edges ON edges.source = walk.artifact_id
    )
    SELECT list(artifact_id) FROM walk
);
