-- Where does the processor time of evaluations go: search, sessions, trials and duels, programs that passed and programs that a gate blocked?
WITH stopped AS (SELECT cycle, program_id, min(gate) FILTER (NOT passed) AS gate FROM programs.accepted GROUP BY ALL),
spent AS (SELECT project, cycle, program_id, purpose, cpu_s FROM programs.measured
    UNION ALL SELECT project, cycle, program_id, 'duel', cpu_s FROM programs.heldout)
SELECT project, purpose, coalesce('blocked by ' || gate, 'passed') AS outcome, count(*) AS evaluations, round(sum(cpu_s), 2) AS cpu_s
FROM spent LEFT JOIN stopped USING (cycle, program_id)
GROUP BY ALL ORDER BY project, cpu_s DESC, purpose, outcome;
