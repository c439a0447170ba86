-- How well do the calls of each role go: how many fail or need another attempt, how long do they take, what do they use?
SELECT role, backend, coalesce(model, '') AS model, count(*) AS calls, count(*) FILTER (status <> 'ok') AS failed,
    count(*) FILTER (attempt > 0) AS repeats, quantile_cont(latency_s, 0.5) AS p50_s, quantile_cont(latency_s, 0.95) AS p95_s,
    sum(input_tokens) AS input_tokens, sum(cached_tokens) AS cached_tokens, sum(output_tokens) AS output_tokens, sum(usd) AS usd
FROM calls
WHERE line = $line
GROUP BY ALL
ORDER BY role, backend, model;
