-- What did each search find in how many evaluations and processor seconds: the line's own, and those of the setting `searches`?
WITH tried AS (SELECT project, cycle, count(*) AS evaluations FROM programs.measured WHERE purpose = 'search' GROUP BY ALL),
spent AS (SELECT project, cycle, sum(cpu_s) AS cpu_s FROM programs.generations GROUP BY ALL),
best AS (SELECT project, cycle, CASE WHEN higher_is_better THEN max(score) ELSE min(score) END AS score
    FROM (SELECT project, cycle, score FROM programs.candidates UNION ALL SELECT project, cycle, score FROM programs.incoming_programs)
    JOIN programs.projects USING (project, cycle) GROUP BY project, cycle, higher_is_better),
lines AS (SELECT project, cycle, 'line' AS search, evaluations, cpu_s, score FROM spent LEFT JOIN tried USING (project, cycle) LEFT JOIN best USING (project, cycle))
SELECT project, search, cycle, evaluations, cpu_s, score AS best,
    sum(evaluations) OVER so_far AS evaluations_so_far, sum(cpu_s) OVER so_far AS cpu_s_so_far
FROM (SELECT * FROM lines UNION ALL SELECT project, cycle, search, evaluations, cpu_s, score FROM programs.baseline)
WINDOW so_far AS (PARTITION BY project, search ORDER BY cycle) ORDER BY project, cycle, search;
