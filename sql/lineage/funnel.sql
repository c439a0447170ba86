-- How many artifacts of a line came to each gate in each cycle, and what did the gate say? One artifact counts once a gate: its worst verdict.
CREATE MACRO funnel(line_name) AS TABLE
WITH judged AS (
    SELECT verdicts.cycle, verdicts.gate_no, verdicts.gate, verdicts.artifact_id, list_distinct(list(verdicts.outcome)) AS outcomes
    FROM verdicts
    WHERE verdicts.artifact_id IN (SELECT artifacts.artifact_id FROM artifacts WHERE artifacts.line = line_name)
    GROUP BY ALL
)
SELECT
    cycle, gate_no, gate, count(*) AS came,
    count(*) FILTER (NOT list_has_any(outcomes, ['block', 'error']) AND list_contains(outcomes, 'pass')) AS passed,
    count(*) FILTER (list_contains(outcomes, 'block')) AS blocked,
    count(*) FILTER (list_contains(outcomes, 'error') AND NOT list_contains(outcomes, 'block')) AS errors,
    count(*) FILTER (outcomes = ['skip']) AS skipped
FROM judged
GROUP BY ALL
ORDER BY cycle, gate_no, gate;
