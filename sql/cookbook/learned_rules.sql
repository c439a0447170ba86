-- What became of each learned rule that was proposed in the solvers line, what did it block when it was replayed, and what has it blocked since? Blocked
-- variants: the first ten by name.
WITH since AS (
    SELECT rule_id, rule_version, count(DISTINCT artifact_id) AS blocked, list_sort(list(DISTINCT artifact_id))[:10] AS variants
    FROM verdicts WHERE outcome = 'block' GROUP BY ALL
)
SELECT rules.cycle, rules.rule_id, rules.version, rules.lesson, rules.state, rules.reason, rules.blocked_failed AS failed_at_replay,
    rules.blocked_accepted AS accepted_at_replay, coalesce(since.blocked, 0) AS blocked_since, coalesce(since.variants, []) AS variants
FROM solvers.rule_proposals AS rules LEFT JOIN since ON since.rule_id = rules.rule_id AND since.rule_version = rules.version::VARCHAR
ORDER BY blocked_since DESC, rules.cycle, rules.rule_id, rules.version;
