-- Which calls led to the newest champion of a line: those about it and about each of its ancestors? Operators are calls without a model.
WITH champion AS (
    SELECT arg_max(artifact_id, cycle) AS artifact_id FROM champions WHERE line = $line
)
SELECT made.cycle, made.artifact_id, made.operator, calls.role, coalesce(calls.model, calls.backend) AS asked, calls.call_id,
    calls.status, calls.input_tokens + calls.output_tokens AS tokens, calls.usd
FROM ancestry((SELECT artifact_id FROM champion)) AS made JOIN calls USING (artifact_id)
ORDER BY made.cycle, made.artifact_id, calls.call_id;
