"""Where the evidence of families is found again, and what each took in the jail."""

from __future__ import annotations

from evolake.families.gates.specs import GATES
from evolake.families.known_gates import known_gates
from evolake.families.tables import further_table
from evolake.gate_spec import gates_of_assets
from evolake.gates.stored import StoredEvidence, in_rows

known_gates()  # which registers the checkers that rules name
STORED = StoredEvidence(
    find=in_rows(
        ("seeds", "candidates", "immigrant_families", *map(further_table, gates_of_assets(GATES))), "family_id",
        lambda blob, _gate: blob["evidence"], "families",
    ),
    seconds="""
SELECT 'candidates' AS asset, cycle, family_id AS artifact_id, (
  SELECT coalesce(sum(cast(json_extract(costs, '$.' || gate || '.cpu_s') AS DOUBLE)), 0) FROM (SELECT unnest(json_keys(costs)) AS gate)) AS cpu_s
FROM families.candidates""",
)
