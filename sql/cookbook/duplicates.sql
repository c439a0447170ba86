-- Which content was created more than once in a line: under several ids, or again in a later cycle?
SELECT content_sha, count(DISTINCT artifact_id) AS ids, count(DISTINCT cycle) AS cycles,
    list_sort(list(DISTINCT artifact_id)) AS artifact_ids, list_sort(list(DISTINCT cycle)) AS in_cycles
FROM artifacts
WHERE line = $line AND state NOT IN ('champion', 'retired')
GROUP BY content_sha
HAVING ids > 1 OR cycles > 1
ORDER BY cycles DESC, ids DESC, content_sha;
