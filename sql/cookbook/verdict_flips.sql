-- Which artifacts got another verdict of rule $rule_id in version $after than in version $before? Superseded verdicts are included: the old version is often there.
WITH judged AS (
    SELECT artifact_id, rule_version, max_by(outcome, (NOT superseded, cycle)) AS outcome, max_by(reason, (NOT superseded, cycle)) AS reason
    FROM verdicts_all WHERE rule_id = $rule_id GROUP BY artifact_id, rule_version
)
SELECT artifact_id, old.outcome AS before, new.outcome AS after, new.reason
FROM judged AS old JOIN judged AS new USING (artifact_id)
WHERE old.rule_version = $before AND new.rule_version = $after AND old.outcome <> new.outcome
ORDER BY before, after, artifact_id;
