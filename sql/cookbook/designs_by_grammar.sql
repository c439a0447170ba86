-- How do designs of each grammar compare (`file`: written by people or a model): how many are ranked in each cycle, the best rank, the largest size solved?
WITH grammars AS (
    SELECT design_id, coalesce(max(grammar), CASE WHEN max(genome) IS NULL THEN 'file' ELSE 'paper' END) AS grammar
    FROM (SELECT design_id, grammar, genome FROM designs.incoming_designs UNION ALL SELECT design_id, grammar, genome FROM designs.candidates)
    GROUP BY design_id
)
SELECT cycle, grammar, count(*) AS designs, min(rank) AS best_rank, max(largest_solved) AS largest_solved
FROM designs.final_ranking JOIN grammars USING (design_id) GROUP BY ALL ORDER BY ALL;
