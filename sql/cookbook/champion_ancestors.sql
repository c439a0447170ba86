-- Which artifacts does the newest champion of a line descend from, blocked ones included? The champion itself is the last row.
WITH champion AS (
    SELECT arg_max(artifact_id, cycle) AS artifact_id FROM champions WHERE line = $line
)
SELECT cycle, artifact_id, state, kind, operator, title
FROM ancestry((SELECT artifact_id FROM champion));
