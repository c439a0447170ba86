-- From whom does the newest champion of a line descend, the blocked included?
WITH champion AS (
    SELECT arg_max(artifact_id, cycle) AS artifact_id FROM champions WHERE line = $line
)
SELECT cycle, artifact_id, state, kind, title
FROM ancestors((SELECT artifact_id FROM champion))
ORDER BY cycle, artifact_id;
