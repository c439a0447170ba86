-- What has become of each artifact? One row an artifact: its furthest state in its newest cycle.
CREATE VIEW artifacts_latest AS
SELECT * FROM artifacts
QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY cycle DESC, state_rank(state) DESC, created_at DESC) = 1;
