-- What did one accepted artifact of a line cost, in the cycle in which it was accepted? Calls that are not about one artifact (such as planning) are included.
WITH spent AS (
    SELECT cycle, sum(usd) AS usd, sum(input_tokens + output_tokens) AS tokens FROM calls WHERE line = $line GROUP BY cycle
), accepted AS (
    SELECT cycle, count(*) AS accepted FROM (SELECT min(cycle) AS cycle FROM artifacts
        WHERE line = $line AND state IN ('accepted', 'champion') GROUP BY artifact_id) GROUP BY cycle)
SELECT cycle, coalesce(usd, 0) AS usd, coalesce(tokens, 0) AS tokens, coalesce(accepted, 0) AS accepted,
    coalesce(usd, 0) / nullif(accepted, 0) AS usd_each, coalesce(tokens, 0) / nullif(accepted, 0) AS tokens_each
FROM spent FULL JOIN accepted USING (cycle) ORDER BY cycle;
