-- From whom does an artifact descend, the blocked and the superseded included? Itself left out.
CREATE MACRO ancestors(id) AS TABLE FROM relatives(id, false) ORDER BY cycle, artifact_id;
