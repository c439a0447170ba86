-- How much was spent on candidates of a line that were blocked late, at gate number $gate_no or after?
WITH late AS (
    SELECT artifact_id, min(gate_no) AS gate_no, arg_min(gate, gate_no) AS gate FROM verdicts WHERE outcome = 'block' GROUP BY artifact_id
)
SELECT late.gate_no, late.gate, count(DISTINCT late.artifact_id) AS artifacts, coalesce(sum(calls.usd), 0) AS usd,
    coalesce(sum(calls.input_tokens + calls.output_tokens), 0) AS tokens
FROM late JOIN known_artifacts AS known USING (artifact_id) LEFT JOIN calls USING (artifact_id)
WHERE known.line = $line AND late.gate_no >= $gate_no::INTEGER
GROUP BY ALL ORDER BY late.gate_no, late.gate;
