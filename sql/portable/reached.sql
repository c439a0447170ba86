-- Which targets does a way lead to from an artifact, each once? For files that other tools open; `evolake sql` has a function that is quicker.
CREATE MACRO reached(start, sources, targets) AS (
    WITH RECURSIVE edges AS MATERIALIZED (SELECT unnest(sources) AS source, unnest(targets) AS target),
    walk(artifact_id) AS (
        SELECT target FROM edges WHERE source = start
        UNION
        SELECT edges.target FROM walk JOIN edges ON edges.source = walk.artifact_id
    )
    SELECT list(artifact_id) FROM walk
);
