-- Which model and operator calls were made, each once, superseded ones too (what was paid stays paid), and for which line?
CREATE VIEW calls AS
SELECT * EXCLUDE (superseded, origin_line, origin_asset, origin_cycle, origin_run), origin_line AS line
FROM agent_calls_all
QUALIFY row_number() OVER (PARTITION BY origin_line, call_id ORDER BY usd DESC NULLS LAST, superseded) = 1;
