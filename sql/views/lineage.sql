-- Which edges make up the genealogy? The current derivations, and for a child that has none now those that were superseded: no parent is lost.
CREATE VIEW lineage AS
SELECT DISTINCT child_id, parent_id, operator, weight, cycle FROM derivations_all
WHERE NOT superseded OR child_id NOT IN (SELECT child_id FROM derivations WHERE child_id IS NOT NULL);
