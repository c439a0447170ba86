-- What is known of each artifact that ever was? As artifacts_latest, with those whose every row has been superseded.
CREATE VIEW known_artifacts AS
SELECT artifact_id, line, kind, cycle, state, title, content_sha, superseded FROM artifacts_all
QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY superseded, cycle DESC, state_rank(state) DESC, created_at DESC) = 1;
