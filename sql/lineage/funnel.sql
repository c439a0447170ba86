-- How many artifacts of a line reached each gate in each cycle, and what was the verdict? One artifact counts once per gate: its worst verdict.
-- If attempts created no artifact at all, the row `made` is before the gates: how many attempts there were, and how many of them (`blocked`) created none. An attempt
-- is what came to a line's first gate in the cycle (not objectives, nor what is only judged again later on); added seeds come there too and count.
CREATE MACRO funnel(line_name) AS TABLE
WITH judged AS (
    SELECT verdicts.cycle, verdicts.gate_no, verdicts.gate, verdicts.artifact_id, list_distinct(list(verdicts.outcome)) AS outcomes
    FROM verdicts
    WHERE verdicts.artifact_id IN (SELECT artifacts.artifact_id FROM artifacts WHERE artifacts.line = line_name)
    GROUP BY ALL
), lacking AS (
    SELECT parts.cycle, sum(parts.rows)::BIGINT AS unmade FROM parts
    WHERE parts.line = line_name AND parts.asset = 'unmade' AND parts.state = 'current' AND parts.rows > 0
    GROUP BY parts.cycle
), made AS (
    SELECT judged.cycle, count(DISTINCT judged.artifact_id) AS artifacts FROM judged
    WHERE judged.gate_no = 0 AND judged.gate <> 'objective' GROUP BY judged.cycle
)
SELECT
    lacking.cycle, NULL::BIGINT AS gate_no, 'made' AS gate, coalesce(made.artifacts, 0) + lacking.unmade AS came,
    coalesce(made.artifacts, 0) AS passed, lacking.unmade AS blocked, 0 AS errors, 0 AS skipped
FROM lacking LEFT JOIN made ON made.cycle = lacking.cycle
UNION ALL
SELECT
    cycle, gate_no, gate, count(*) AS came,
    count(*) FILTER (NOT list_has_any(outcomes, ['block', 'error']) AND list_contains(outcomes, 'pass')) AS passed,
    count(*) FILTER (list_contains(outcomes, 'block')) AS blocked,
    count(*) FILTER (list_contains(outcomes, 'error') AND NOT list_contains(outcomes, 'block')) AS errors,
    count(*) FILTER (outcomes = ['skip']) AS skipped
FROM judged
GROUP BY ALL
ORDER BY cycle, gate_no NULLS FIRST, gate;
