-- Which edition of each rule judged which cycles, since when, and which one is the newest? Cycles whose verdicts were superseded are counted apart.
WITH judged AS (
    SELECT v.origin_line AS line, rule_id, rule_version, v.cycle, superseded, p.created_at AS judged_at
    FROM verdicts_all AS v JOIN parts AS p ON (p.line, p.asset, p.run_id) = (v.origin_line, v.origin_asset, v.origin_run)
        AND p.cycle IS NOT DISTINCT FROM v.origin_cycle WHERE rule_id <> ''
)
SELECT line, rule_id, rule_version, min(cycle) FILTER (NOT superseded) AS from_cycle, max(cycle) FILTER (NOT superseded) AS to_cycle,
    count(DISTINCT cycle) FILTER (NOT superseded) AS cycles, count(DISTINCT cycle) FILTER (superseded) AS cycles_superseded,
    min(judged_at) AS applied_at, max(judged_at) = max(max(judged_at)) OVER (PARTITION BY line, rule_id) AS newest
FROM judged GROUP BY line, rule_id, rule_version ORDER BY line, rule_id, applied_at;
