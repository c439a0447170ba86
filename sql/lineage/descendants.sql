-- Who descends from an artifact, the blocked and the superseded included? Itself left out.
CREATE MACRO descendants(id) AS TABLE FROM relatives(id, true) ORDER BY cycle, artifact_id;
