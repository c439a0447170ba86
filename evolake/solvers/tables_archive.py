"""Types of the tables of the solvers line that hold variants, plans and what was learnt. Those in ARCHIVE go from cycle to cycle (`population`)."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, TableSchema
from evolake.solvers.tables import HOLDOUT_RUNS, OBJECTIVES, RANKING, RUNS

VARIANTS = TableSchema(
    "variants", 1,
    {
        "variant_id": pl.String, "state": pl.String, "cycle": pl.String, "title": pl.String, "base": pl.String, "operator": pl.String,
        "origin": pl.String, "plan_id": pl.String, "hypothesis": pl.String, "changed": pl.String, "parents": pl.List(pl.String),
        "edits": pl.String, "archive_sha": pl.String, "diff_sha": pl.String, "evidence": pl.String, "gate": pl.String, "rule_id": pl.String,
        "reason": pl.String, "repairs": pl.Int64, "objections": pl.List(pl.String), "dropped": pl.String,
    },
    keys=("variant_id",),
)
"""`edits`: JSON list of what operators changed in the base, null for a variant written as a diff. `evidence`: JSON, gate -> sha of what its rules
judged. `gate`, `rule_id`, `reason`: what blocked it. `objections`: what the coder was told on the way. `dropped`: JSON, what a crossover left out."""
FINDINGS = TableSchema(
    "findings", 1,
    {
        "finding_id": pl.String, "cycle": pl.String, "title": pl.String, "lesson": pl.String, "subject": pl.String, "explanation": pl.String,
        "evidence": pl.List(pl.String), "assessment": pl.String,
    },
    keys=("finding_id",),
)
HISTORY = TableSchema(
    "history", 1,
    {
        "variant_id": pl.String, "cycle": pl.String, "base": pl.String, "changed": pl.List(pl.String), "outcome": pl.String, "gate": pl.String,
        "gain": pl.Float64, "solved_gain": pl.Float64,
    },
    keys=("variant_id",),
)
PLANS = TableSchema(
    "plans", 1,
    {
        "plan_id": pl.String, "cycle": pl.String, "number": pl.Int64, "parent_ids": pl.List(pl.String), "kind": pl.String, "target": pl.String,
        "hypothesis": pl.String, "instructions": pl.String, "assessment": pl.String, "origin": pl.String, "guidance": pl.List(pl.String),
    },
    keys=("plan_id",),
)
RULE_PROPOSALS = TableSchema(
    "rule_proposals", 1,
    {
        "rule_id": pl.String, "version": pl.Int64, "cycle": pl.String, "lesson": pl.String, "check": pl.String, "parameters": pl.String,
        "rationale": pl.String, "evidence": pl.String, "state": pl.String, "reason": pl.String, "blocked_failed": pl.String,
        "blocked_accepted": pl.String, "text": pl.String, "diff": pl.String, "text_sha": pl.String,
    },
    keys=("rule_id", "version", "cycle"),
)
"""`state`: active, rejected or duplicate; `reason` says why. `parameters`, `evidence` and the blocked ids are JSON. `text` is the rule's file."""
STATE = TableSchema("state", 1, {"name": pl.String, "value": pl.String}, keys=("name",))
ARCHIVE: dict[str, TableSchema] = {
    "variants": VARIANTS, "derivations": DERIVATIONS, "runs": RUNS, "holdout": HOLDOUT_RUNS, "objectives": OBJECTIVES, "ranking": RANKING,
    "rule_proposals": RULE_PROPOSALS, "findings": FINDINGS, "history": HISTORY, "state": STATE,
}
