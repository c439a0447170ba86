-- Which champions passed a version of a rule that is no longer in force?
SELECT champions.line, champions.cycle, champions.artifact_id, verdicts.rule_id, verdicts.rule_version, max(rules.version) AS version_now
FROM champions JOIN verdicts USING (artifact_id) LEFT JOIN rules USING (rule_id)
WHERE verdicts.outcome = 'pass' AND verdicts.rule_id <> ''
GROUP BY ALL
HAVING NOT coalesce(bool_or(rules.version = verdicts.rule_version), false)
ORDER BY champions.line, champions.cycle, verdicts.rule_id;
