-- How reliable are the calls of each role: how many fail or need another attempt, how long do they take, what do they use? A replay is no failure.
SELECT role, backend, coalesce(model, '') AS model, count(*) AS calls,
    count(*) FILTER (NOT regexp_full_match(status, '(ok|replayed)([+](no_usage|odd_usage|answered_by:.*))*')) AS failed, count(*) FILTER (attempt > 0) AS repeats,
    round(quantile_cont(latency_s, 0.5), 3) AS p50_s, round(quantile_cont(latency_s, 0.95), 3) AS p95_s,
    sum(input_tokens) AS input_tokens, sum(cached_tokens) AS cached_tokens, sum(output_tokens) AS output_tokens, sum(usd) AS usd
FROM calls
WHERE line = $line
GROUP BY ALL
ORDER BY role, backend, model;
