-- Which edges make up the genealogy? The current derivations, and for a child that has none now those that were superseded: no parent is lost.
CREATE VIEW lineage AS
SELECT child_id, parent_id, operator, weight, cycle FROM derivations
UNION ALL
SELECT DISTINCT child_id, parent_id, operator, weight, cycle FROM derivations_all AS before
WHERE superseded AND NOT EXISTS (SELECT 1 FROM derivations WHERE derivations.child_id = before.child_id);
