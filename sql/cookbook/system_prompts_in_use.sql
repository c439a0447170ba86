-- Which evolved system prompts did the roles of a line read, what is their state now, and what were the outcomes of the calls and of their artifacts?
SELECT calls.prompt_id, prompt.state AS prompt_state, role, min(calls.cycle) AS since, max(calls.cycle) AS until, count(*) AS calls,
    count(*) FILTER (NOT regexp_full_match(status, '(ok|replayed)([+](no_usage|odd_usage|answered_by:.*))*')) AS failed, sum(usd) AS usd,
    count(DISTINCT about.artifact_id) AS artifacts, count(DISTINCT about.artifact_id) FILTER (about.state IN ('accepted', 'champion', 'retired')) AS accepted
FROM calls
LEFT JOIN known_artifacts AS prompt ON prompt.artifact_id = calls.prompt_id
LEFT JOIN known_artifacts AS about ON about.artifact_id = calls.artifact_id
WHERE calls.line = $line AND calls.prompt_id IS NOT NULL
GROUP BY ALL ORDER BY since, calls.prompt_id, role;
