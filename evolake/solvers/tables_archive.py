"""Types of the tables of the solvers line that hold variants, plans and what was learnt. Those in ARCHIVE go
from cycle to cycle (`population`)."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, incoming_tables, tables_by_name
from evolake.solvers import tables
from evolake.solvers.tables import HOLDOUT_RUNS, OBJECTIVES, RANKING, RUNS, TERMS

VARIANTS = TableSchema(
    "variants",
    1,
    {
        "variant_id": pl.String,
        "state": (pl.String, "candidate, accepted (may be used as a parent), champion, blocked or retired."),
        "cycle": (pl.String, "Cycle in which it was made; 0000 for a seed."),
        "title": pl.String,
        "base": pl.String,
        "operator": (pl.String, "What made it: seed, tunable, patch, rewrite, mutate or crossover."),
        "origin": pl.String,
        "plan_id": pl.String,
        "hypothesis": (pl.String, "What the planner expected to improve; empty for a seed."),
        "changed": pl.String,
        "parents": (pl.List(pl.String), "Variants that it was made from, the one it builds on first."),
        "edits": (
            pl.String,
            "JSON list of what operators changed in the base; null for a variant written as a diff.",
        ),
        "archive_sha": (pl.String, "Blob with its source tree (deterministic tar.zst)."),
        "diff_sha": (pl.String, "Blob with its sources' diff against the first parent; null for a seed."),
        "evidence": (pl.String, "JSON, gate -> blob with what the gate's rules judged."),
        "gate": pl.String,
        "rule_id": pl.String,
        "reason": pl.String,
        "repairs": (pl.Int64, "How often the coder repaired it before the final verdict."),
        "objections": (pl.List(pl.String), "What the coder was shown each time."),
        "dropped": (pl.String, "JSON, what a crossover or an edit without its anchor left out."),
    },
    keys=("variant_id",),
    terms=TERMS,
)
FINDINGS = TableSchema(
    "findings",
    1,
    {
        "finding_id": (pl.String, "Cycle and number of the finding."),
        "cycle": pl.String,
        "title": pl.String,
        "lesson": (pl.String, "What follows for the next variant, in a sentence."),
        "subject": (pl.String, "Mechanism, option or function that it is about."),
        "explanation": (pl.String, "How the analyst arrives at the lesson."),
        "evidence": (pl.List(pl.String), "Incidents that it rests on."),
        "assessment": (pl.String, "What the analyst thinks of the cycle as a whole."),
    },
    keys=("finding_id",),
    terms=TERMS,
)
HISTORY = TableSchema(
    "history",
    1,
    {
        "variant_id": pl.String,
        "cycle": pl.String,
        "base": pl.String,
        "changed": (pl.List(pl.String), "Edits that its parent has not, or has with other values."),
        "outcome": (pl.String, "accepted or blocked."),
        "gate": pl.String,
        "gain": (
            pl.Float64,
            "Ranks gained on its parent, as a share of all ranks; null where it was never ranked.",
        ),
        "solved_gain": (pl.Float64, "Formulas solved more than by its parent; below 0 it is a regression."),
    },
    keys=("variant_id",),
    terms=TERMS,
)
PLANS = TableSchema(
    "plans",
    1,
    {
        "plan_id": (pl.String, "Plan: sha256 (hex) of cycle, number and what is planned."),
        "cycle": pl.String,
        "number": (pl.Int64, "Place among the cycle's plans, from 0."),
        "parent_ids": (pl.List(pl.String), "Variants to build on; two for a crossover."),
        "kind": (
            pl.String,
            "tunable (option defaults), patch or rewrite (code), mutate (values of an earlier change) or "
            "crossover.",
        ),
        "target": (pl.String, "Option or mechanism to change; empty where that is left open."),
        "hypothesis": (pl.String, "What should improve, and why."),
        "instructions": (pl.String, "What to change, and in which functions."),
        "assessment": (pl.String, "Where the planner sees the search."),
        "origin": pl.String,
        "guidance": pl.List(pl.String),
    },
    keys=("plan_id",),
    terms=TERMS,
)
RULE_PROPOSALS = TableSchema(
    "rule_proposals",
    1,
    {
        "rule_id": (pl.String, "Learned rule by name."),
        "version": (pl.Int64, "Edition of the rule under this name, from 1."),
        "cycle": pl.String,
        "lesson": (pl.String, "What the rule shall make everyone heed."),
        "check": (pl.String, "Registered checker that applies it."),
        "parameters": (pl.String, "What the checker is given, as JSON."),
        "rationale": (pl.String, "Why the rule writer proposes it."),
        "evidence": (pl.String, "JSON list of the failed variants that it must block."),
        "state": (pl.String, "active (in force from the next cycle on), rejected or duplicate."),
        "reason": (pl.String, "Why it is so."),
        "blocked_failed": (pl.String, "JSON list of failed variants that it blocks in replay."),
        "blocked_accepted": (
            pl.String,
            "JSON list of accepted variants that it blocks in replay; one is enough to reject it.",
        ),
        "text": (pl.String, "The rule's file."),
        "diff": (pl.String, "What differs from the active edition before it."),
        "text_sha": (pl.String, "sha256 (hex) of the rule's file."),
    },
    keys=("rule_id", "version", "cycle"),
    terms=TERMS,
)
FAILED_PROPOSALS = TableSchema(
    "unmade",
    1,
    {
        "plan_id": pl.String,
        "cycle": pl.String,
        "reason": (pl.String, "Why no variant came of the plan."),
        "objections": (pl.List(pl.String), "What the coder was shown each time."),
    },
    keys=("plan_id",),
    terms=TERMS,
)
CODER_RUNS = TableSchema(
    "coder_runs",
    1,
    {
        "plan_id": pl.String,
        "cycle": pl.String,
        "program": (pl.String, "File name of the program that the setting `coder` names."),
        "exit_code": (
            pl.Int64,
            "What it ended with; null where it was ended at the limit of time, or could not be started.",
        ),
        "wall_s": pl.Float64,
        "output_sha": (pl.String, "Blob with the end of what it printed."),
        "variant_id": (
            pl.String,
            "Variant that came of what it left: sha256 (hex) of its source tree; null for none.",
        ),
        "reason": (pl.String, "Why nothing of what it left was taken; null where it was."),
    },
    keys=("plan_id",),
    provenance=("wall_s",),
    terms=TERMS,
)
"""Runs of a coding agent of the user's own (`EVOLAKE_CODER=command:...`)."""
SUBMISSIONS = TableSchema(
    "submissions",
    1,
    {
        "submission_id": (
            pl.String,
            "Submission: sha256 (hex) of tree, parent and cycle; the id of the plan that it becomes.",
        ),
        "cycle": (
            pl.String,
            "Evolution cycle in which it is built and judged: the next one when it was submitted.",
        ),
        "parent_id": (pl.String, "Variant that it was made from."),
        "hypothesis": (pl.String, "What should improve, and why, in the words of who submits it."),
        "tree_sha": (pl.String, "Blob with the tree as it was submitted."),
        "created_at": pl.Datetime("us", "UTC"),
    },
    keys=("submission_id",),
    terms=TERMS,
)
"""Trees that people or other tools submit (`evolake solvers submit`)."""
PROPOSED = TableSchema(
    "proposed_rules",
    1,
    {
        "number": (pl.Int64, "Place among the cycle's proposals, from 0."),
        "cycle": pl.String,
        "proposal": (pl.String, "What the rule writer replied, as JSON."),
    },
    keys=("number",),
    terms=TERMS,
)
PROVENANCE = TableSchema(
    "provenance",
    1,
    {
        "name": (pl.String, "Seed solver by name."),
        "version": (pl.String, "Release of the solver."),
        "sha256": (pl.String, "Blob with the archive of its sources."),
        "source": (
            pl.String,
            "Address or path that it came from, with the file inside where it came in another archive.",
        ),
        "fetched_at": (pl.Datetime("us", "UTC"), "When it was first fetched (UTC)."),
        "licence": (pl.String, "Licence that it is distributed under."),
        "adapter": (pl.String, "How it is built and run."),
    },
    keys=("name",),
    provenance=("fetched_at", "source"),
    terms=TERMS,
)
ARCHIVE: dict[str, TableSchema] = {
    "variants": VARIANTS,
    "derivations": DERIVATIONS,
    "runs": RUNS,
    "holdout": HOLDOUT_RUNS,
    "objectives": OBJECTIVES,
    "ranking": RANKING,
    "rule_proposals": RULE_PROPOSALS,
    "findings": FINDINGS,
    "history": HISTORY,
    "state": STATE,
}
TABLES = incoming_tables(ARCHIVE) | {
    **dict.fromkeys(("seeds", "immigrant_variants", "variants", "survivors"), VARIANTS),
    "plan": PLANS,
    "post_mortem": FINDINGS,
    "attempts": HISTORY,
    "compliance": tables.GATED,
    "smoke": tables.SMOKE_RUNS,
    "correctness": tables.CORRECTNESS_RUNS,
    "champion": tables.DECISIONS,
    "consensus_ranking_weights": tables.WEIGHTS,
    **tables_by_name(
        PROVENANCE,
        FAILED_PROPOSALS,
        CODER_RUNS,
        SUBMISSIONS,
        PROPOSED,
        RULE_PROPOSALS,
        tables.GATE_RUNS,
        tables.BINARIES,
        tables.STABILITY_RUNS,
        RUNS,
        tables.METRICS,
        OBJECTIVES,
        tables.OBJECTIVE_REVIEWS,
        tables.SCORES,
        RANKING,
        tables.DUELS,
        tables.CONTEST_FAMILIES,
        tables.RACES,
        HOLDOUT_RUNS,
        tables.RULE_METRICS,
    ),
}
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
