-- Which gate of which line blocked most artifacts since $since, and what share of those that it judged?
SELECT artifacts.line, gate, count(DISTINCT artifact_id) FILTER (outcome = 'block') AS blocked, count(DISTINCT artifact_id) AS judged,
    round(blocked / judged, 3) AS share
FROM verdicts JOIN (SELECT DISTINCT artifact_id, line FROM artifacts_all) AS artifacts USING (artifact_id)
WHERE judged_at >= $since::TIMESTAMPTZ
GROUP BY ALL HAVING blocked > 0 ORDER BY blocked DESC, artifacts.line, gate;
