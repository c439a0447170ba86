-- Which edges make up the genealogy? The current derivations, and for a child that has none now those that were superseded: no parent is lost.
-- What was superseded is little: current derivations are held against it, and not the other way round.
-- `= true` is a filter that DuckDB hands to the scan, which then skips whole files; the bare column is not.
CREATE VIEW lineage AS
WITH before AS MATERIALIZED (SELECT DISTINCT child_id, parent_id, operator, weight, cycle FROM derivations_all WHERE superseded = true),
again AS MATERIALIZED (SELECT DISTINCT child_id FROM derivations SEMI JOIN before USING (child_id))
SELECT child_id, parent_id, operator, weight, cycle FROM derivations
UNION ALL
SELECT child_id, parent_id, operator, weight, cycle FROM before ANTI JOIN again USING (child_id);
