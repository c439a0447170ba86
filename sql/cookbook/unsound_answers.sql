-- How many UNSAT answers of each solver variant rest on a verified proof, what share was checked, and how many of its answers are unsound?
WITH runs AS (
    FROM solvers.smoke UNION ALL BY NAME FROM solvers.correctness UNION ALL BY NAME FROM solvers.stability_runs
    UNION ALL BY NAME FROM solvers.benchmark_runs UNION ALL BY NAME FROM solvers.champion_trials UNION ALL BY NAME FROM solvers.holdout_runs
)
SELECT runs.variant_id, known.title, known.state, count(*) AS runs, count(*) FILTER (runs.status = 'unsat') AS unsat,
    round(avg((coalesce(runs.proof_status, 'unchecked') <> 'unchecked')::INTEGER) FILTER (runs.status = 'unsat'), 3) AS checked_share,
    count(*) FILTER (runs.status = 'unsat' AND runs.certificate = 'proof') AS proofs_verified,
    count(*) FILTER (runs.status = 'wrong' OR runs.proof_status = 'refuted') AS unsound
FROM runs LEFT JOIN known_artifacts AS known ON known.artifact_id = runs.variant_id
GROUP BY ALL ORDER BY unsound DESC, proofs_verified DESC, runs.variant_id;
