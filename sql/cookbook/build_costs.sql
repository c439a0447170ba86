-- What did the builds of solver variants cost in each cycle, by base, and how many failed or warned?
WITH bases AS (SELECT DISTINCT variant_id, base, cycle FROM solvers.variants)
SELECT bases.cycle, bases.base, count(*) AS builds, count(*) FILTER (NOT built.passed) AS failed, count(DISTINCT built.program_sha) AS programs,
    round(sum(built.cpu_s), 3) AS cpu_s, round(max(built.cpu_s), 3) AS slowest_cpu_s, sum(built.warnings) AS warnings
FROM solvers.binaries AS built JOIN bases USING (variant_id, cycle)
GROUP BY ALL ORDER BY bases.cycle, bases.base;
