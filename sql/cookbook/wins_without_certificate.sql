-- Which evaluations of a line count as won without a certificate?
SELECT evaluations.artifact_id, known.state, evaluations.suite, evaluations.instance, evaluations.seed, evaluations.status
FROM evaluations JOIN known_artifacts AS known USING (artifact_id)
WHERE known.line = $line AND evaluations.status IN ('ok', 'solved', 'sat', 'unsat', 'proved', 'won')
    AND coalesce(evaluations.certificate, '') = ''
ORDER BY evaluations.artifact_id, evaluations.suite, evaluations.instance, evaluations.seed;
