-- Which champions passed an edition of a rule that a newer one has replaced?
WITH editions AS (SELECT rule_id, version FROM rules UNION SELECT rule_id, rule_version FROM verdicts WHERE rule_id <> ''),
newest AS (SELECT rule_id, max_by(version, TRY_CAST(version AS INTEGER)) AS version_now FROM editions GROUP BY rule_id)
SELECT champions.line, champions.cycle, champions.artifact_id, verdicts.rule_id, verdicts.rule_version, version_now
FROM champions JOIN verdicts USING (artifact_id) JOIN newest USING (rule_id)
WHERE verdicts.outcome = 'pass'
GROUP BY ALL
HAVING NOT bool_or(verdicts.rule_version = version_now)
ORDER BY champions.line, champions.cycle, verdicts.rule_id;
