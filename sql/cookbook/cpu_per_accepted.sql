-- How many processor seconds of judging and measuring did each line use in each cycle, and how many for one accepted artifact? A model's time is not counted.
WITH worked AS (
    SELECT 'designs' AS line, cycle, cpu_s FROM designs.experiments UNION ALL SELECT 'designs', cycle, cpu_s FROM designs.promoted_experiments UNION ALL SELECT 'designs', cycle, cpu_s FROM designs.champion_trials
    UNION ALL SELECT 'families', cycle, list_sum(json_extract(costs, '$.*.cpu_s')::DOUBLE[]) FROM families.candidates
    UNION ALL SELECT 'programs', cycle, cpu_s FROM programs.generations UNION ALL SELECT 'programs', cycle, cpu_s FROM programs.measured WHERE purpose = 'polish' UNION ALL SELECT 'programs', cycle, cpu_s FROM programs.heldout
    UNION ALL SELECT 'solvers', cycle, cpu_s FROM (FROM solvers.binaries UNION ALL BY NAME FROM solvers.smoke UNION ALL BY NAME FROM solvers.correctness UNION ALL BY NAME FROM solvers.stability_runs UNION ALL BY NAME FROM solvers.benchmark_runs UNION ALL BY NAME FROM solvers.champion_trials)),
accepted AS (SELECT line, cycle, count(*) AS accepted FROM (SELECT line, min(cycle) AS cycle FROM artifacts WHERE state IN ('accepted', 'champion') GROUP BY line, artifact_id) GROUP BY ALL)
SELECT line, cycle, round(sum(cpu_s), 2) AS cpu_s, coalesce(any_value(accepted), 0) AS accepted, round(sum(cpu_s) / any_value(accepted), 2) AS cpu_s_each
FROM worked LEFT JOIN accepted USING (line, cycle) GROUP BY ALL ORDER BY line, cycle;
