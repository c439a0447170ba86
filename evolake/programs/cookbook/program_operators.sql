-- Which operator creates programs that pass, and that are better than their parent?
WITH known AS (
    SELECT DISTINCT ON (program_id) program_id, score FROM (
        SELECT program_id, score, cycle FROM programs.candidates UNION ALL SELECT program_id, score, cycle FROM programs.incoming_programs)
    WHERE score IS NOT NULL ORDER BY program_id, cycle DESC),
tried AS (SELECT c.project, c.operator, c.state, c.score, p.score AS parent, q.higher_is_better AS up
    FROM programs.candidates AS c LEFT JOIN known AS p ON p.program_id = c.parents[1] JOIN programs.projects AS q USING (project, cycle))
SELECT project, operator, count(*) FILTER (state <> 'unmade') AS made, count(*) FILTER (state = 'unmade') AS unmade,
    count(*) FILTER (state NOT IN ('blocked', 'unmade')) AS passed,
    count(*) FILTER (CASE WHEN up THEN score > parent ELSE score < parent END) AS better_than_parent
FROM (SELECT * FROM tried UNION ALL BY NAME SELECT project, operator, 'unmade' AS state FROM programs.unmade)
GROUP BY ALL ORDER BY project, better_than_parent DESC, passed DESC, operator;
