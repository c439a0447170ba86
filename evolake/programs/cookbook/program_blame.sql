-- Who brought the lines of the newest champions: which program, made when and by what operator or call, what did it gain, and what did it mean to try?
SELECT b.project, b.file, CASE WHEN b.line = b.last_line THEN b.line::VARCHAR ELSE b.line || '-' || b.last_line END AS line,
    b.origin_id[:12] AS program, b.made_in, b.operator, b.gain, b.idea, c.call, c.model, b.text
FROM programs.blame AS b
LEFT JOIN (SELECT artifact_id, min(call_id)[:12] AS call, any_value(model) AS model FROM calls WHERE line = 'programs' AND ends_with(status, 'ok') GROUP BY ALL) AS c
    ON c.artifact_id = b.origin_id AND b.operator = 'model'
QUALIFY b.cycle = max(b.cycle) OVER (PARTITION BY b.project)
ORDER BY b.project, b.file, b.line;
