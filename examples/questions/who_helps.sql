-- Which artifacts of line $line have the most accepted descendants, children of children included?
WITH RECURSIVE below(root, artifact_id) AS (
    SELECT parent_id, child_id FROM lineage
    UNION SELECT below.root, lineage.child_id FROM below JOIN lineage ON lineage.parent_id = below.artifact_id
)
SELECT known.title, below.root AS artifact_id, count(DISTINCT below.artifact_id) AS accepted_descendants
FROM below
JOIN known_artifacts AS known ON known.artifact_id = below.root
JOIN artifacts AS child ON child.artifact_id = below.artifact_id
WHERE known.line = $line AND child.state IN ('accepted', 'champion')
GROUP BY ALL ORDER BY accepted_descendants DESC, artifact_id LIMIT 10;
