-- Where did the code that judges raise an exception, in which cycles, on how many artifacts? Several at one place may be a bug of evolake: report them.
WITH raised AS (
    SELECT *, regexp_extract(reason, '^judging it raised (\S+) at ([^\s:]+(?::\d+)?)', ['error', 'place']) AS met
    FROM verdicts_all WHERE NOT superseded AND starts_with(reason, 'judging it raised ')
)
SELECT origin_line AS line, cycle, met.place AS place, met.error AS error, gate, count(DISTINCT artifact_id) AS artifacts, min(reason) AS example
FROM raised GROUP BY ALL ORDER BY line, cycle, artifacts DESC, place, error, gate;
