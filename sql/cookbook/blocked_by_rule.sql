-- Which rule blocked what in a line, and why?
SELECT verdicts.rule_id, verdicts.rule_version, verdicts.gate, verdicts.cycle, verdicts.artifact_id, known.title, verdicts.reason
FROM verdicts JOIN known_artifacts AS known USING (artifact_id)
WHERE known.line = $line AND verdicts.outcome = 'block'
ORDER BY verdicts.rule_id, verdicts.rule_version, verdicts.cycle, verdicts.artifact_id;
