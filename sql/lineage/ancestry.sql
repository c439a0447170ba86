-- Where does an artifact come from? Itself, last, after all that it descends from, each with the cycle that it was made in and by what.
CREATE MACRO ancestry(id) AS TABLE
WITH met AS MATERIALIZED (SELECT artifact_id FROM ancestors(id) UNION SELECT artifact_id FROM known_artifacts WHERE artifact_id = id),
born AS (SELECT artifact_id, min(cycle) AS cycle FROM artifacts_all SEMI JOIN met USING (artifact_id) GROUP BY ALL),
made AS (
    SELECT child_id AS artifact_id, array_to_string(list_sort(list_distinct(list(operator))), ', ') AS operator,
        list_sort(list_distinct(list(parent_id))) AS parents
    FROM lineage SEMI JOIN met ON met.artifact_id = lineage.child_id GROUP BY child_id
)
SELECT met.artifact_id, known.line, known.kind, born.cycle, known.state, made.operator, made.parents, known.title
FROM met LEFT JOIN known_artifacts AS known USING (artifact_id) LEFT JOIN born USING (artifact_id) LEFT JOIN made USING (artifact_id)
ORDER BY met.artifact_id = id, born.cycle, met.artifact_id;
