"""Types of the tables of the families line. Those in ARCHIVE are carried from cycle to cycle (`population`); single assets add the others."""

from __future__ import annotations

import polars as pl

from evolake.lake.schemas import DERIVATIONS, TableSchema

FAMILIES = TableSchema(
    "families", 1,
    {
        "family_id": pl.String, "state": pl.String, "cycle": pl.String, "name": pl.String, "title": pl.String, "category": pl.String,
        "language": pl.String, "operator": pl.String, "origin": pl.String, "parents": pl.List(pl.String), "attempt": pl.Int64, "round": pl.Int64,
        "record_sha": pl.String, "fingerprint": pl.String, "evidence": pl.String, "gate": pl.String, "rule_id": pl.String, "reason": pl.String,
        "instances": pl.Int64,
    },
    keys=("family_id",),
)
"""One version of a family. state: accepted (may have children) or blocked. attempt, round: which attempt of the cycle it belongs to, and which of its
refinements it is. record_sha: blob of `contract.to_record`. fingerprint: JSON, null where the sample was not reached. evidence: JSON, gate -> sha of
what its rules judged. gate, rule_id, reason: what blocked it when it was made. instances: how many were sampled; null before that."""
CANDIDATES = TableSchema("candidates", 1, {**FAMILIES.columns, "costs": pl.String}, keys=FAMILIES.keys, provenance=("costs",))
"""costs: JSON, gate -> {"calls", "cpu_s", "wall_s"} in the jail. A measurement, not content."""
FURTHER = TableSchema(
    "further", 1, {"family_id": pl.String, "cycle": pl.String, "fingerprint": pl.String, "evidence": pl.String}, keys=("family_id",),
)
"""Candidates that got further than when they were made, because a rule was loosened: what replaces their row's fingerprint and evidence."""
EXPERIENCE = TableSchema("experience", 1, {"number": pl.Int64, "cycle": pl.String, "item": pl.String}, keys=("number",))
STATE = TableSchema("state", 1, {"name": pl.String, "value": pl.String}, keys=("name",))
ARCHIVE: dict[str, TableSchema] = {"families": FAMILIES, "derivations": DERIVATIONS, "experience": EXPERIENCE, "state": STATE}

GATED = TableSchema(
    "gated", 1,
    {
        "family_id": pl.String, "cycle": pl.String, "gate": pl.String, "passed": pl.Boolean, "rule_id": pl.String, "reason": pl.String,
        "evidence_sha": pl.String, "ruleset_hash": pl.String,
    },
    keys=("family_id", "gate"), provenance=("ruleset_hash",),
)
VOTES = TableSchema(
    "consensus_labels", 1,
    {
        "family_id": pl.String, "cycle": pl.String, "difficulty": pl.Int64, "seed": pl.Int64, "label": pl.String, "decided": pl.Boolean,
        "primary_agrees": pl.Boolean, "voters": pl.Int64, "votes": pl.Int64, "passed": pl.Boolean,
    },
    keys=("family_id", "difficulty", "seed"),
)
"""passed, here and in REVIEWS: whether the family passed the gate, so that a changed verdict is changed content."""
VALIDATOR_VOTES = TableSchema(
    "validator_votes", 1,
    {
        "family_id": pl.String, "cycle": pl.String, "difficulty": pl.Int64, "seed": pl.Int64, "voter": pl.String, "status": pl.String,
        "answer": pl.String, "for_label": pl.Boolean,
    },
    keys=("family_id", "difficulty", "seed", "voter"),
)
REVIEWS = TableSchema(
    "blind_reviews", 1,
    {
        "family_id": pl.String, "cycle": pl.String, "number": pl.Int64, "difficulty": pl.Int64, "seed": pl.Int64, "reviewer": pl.String,
        "status": pl.String, "answer": pl.String, "label": pl.String, "matched": pl.Boolean, "programs": pl.Int64, "note": pl.String,
        "passed": pl.Boolean,
    },
    keys=("family_id", "number"),
)
INSTANCES = TableSchema(
    "instances", 1,
    {
        "instance_id": pl.String, "family_id": pl.String, "cycle": pl.String, "category": pl.String, "language": pl.String, "difficulty": pl.Int64,
        "band": pl.String, "seed": pl.Int64, "text": pl.String, "inputs": pl.String, "answer": pl.String, "case_sensitive": pl.Boolean,
        "voters": pl.Int64, "votes": pl.Int64, "text_sha": pl.String,
    },
    keys=("instance_id",),
)
DROPPED = TableSchema(
    "dropped_instances", 1, {"family_id": pl.String, "cycle": pl.String, "reason": pl.String, "instances": pl.Int64}, keys=("family_id", "reason"),
)
COMPLEXITY = TableSchema(
    "complexity", 1,
    {
        "family_id": pl.String, "cycle": pl.String, "operator": pl.String, "category": pl.String, "parsed": pl.Boolean, "loc": pl.Int64,
        "cyclomatic": pl.Int64, "cognitive": pl.Int64, "halstead_volume": pl.Float64, "halstead_difficulty": pl.Float64,
        "halstead_effort": pl.Float64, "loops": pl.Int64, "loop_depth": pl.Int64, "recursive": pl.Boolean, "binary_search": pl.Boolean,
        "sorting": pl.Boolean, "dynamic_programming": pl.Boolean, "graph_traversal": pl.Boolean, "divide_and_conquer": pl.Boolean,
        "time_class": pl.String,
    },
    keys=("family_id",),
)
FUNNEL = TableSchema(
    "funnel", 1,
    {
        "cycle": pl.String, "operator": pl.String, "gate_no": pl.Int64, "gate": pl.String, "came": pl.Int64, "passed": pl.Int64,
        "blocked": pl.Int64, "rate": pl.Float64,
    },
    keys=("cycle", "operator", "gate"),
)
"""operator "all": every operator together. gate "attempts": attempts that ended in an accepted family."""
RESOURCES = TableSchema(
    "resources", 1,
    {
        "cycle": pl.String, "outcome": pl.String, "attempts": pl.Int64, "versions": pl.Int64, "calls_mean": pl.Float64, "cpu_s_mean": pl.Float64,
        "cpu_s_p99": pl.Float64, "wall_s_mean": pl.Float64, "tokens": pl.Int64, "usd": pl.Float64, "usd_each": pl.Float64,
    },
    keys=("cycle", "outcome"), provenance=("cpu_s_mean", "cpu_s_p99", "wall_s_mean"),
)
"""outcome: accepted, rejected, or all; there usd_each is the cost of one accepted family, everything that was rejected included."""
FAILURES = TableSchema(
    "failures", 1,
    {
        "family_id": pl.String, "cycle": pl.String, "kind": pl.String, "gate": pl.String, "rule_id": pl.String, "reason": pl.String,
        "lesson": pl.String, "traces": pl.List(pl.String),
    },
    keys=("family_id",),
)
DRIFT = TableSchema(
    "drift", 1,
    {
        "family_id": pl.String, "parent_id": pl.String, "cycle": pl.String, "role": pl.String, "difficulty": pl.Int64, "seed": pl.Int64,
        "samples": pl.Int64, "correct": pl.Int64, "failed_calls": pl.Int64,
    },
    keys=("family_id", "parent_id", "role", "difficulty", "seed"),
)
"""role: evolved or parent."""
DRIFT_SUMMARY = TableSchema(
    "drift_summary", 1,
    {
        "cycle": pl.String, "k": pl.Int64, "pairs": pl.Int64, "parent": pl.Float64, "evolved": pl.Float64, "delta": pl.Float64, "low": pl.Float64,
        "high": pl.Float64,
    },
    keys=("cycle", "k"),
)
GRADES = TableSchema(
    "audit_grades", 1,
    {
        "family_id": pl.String, "auditor": pl.String, "validator_consistency": pl.String, "answer_correctness": pl.String,
        "question_clarity": pl.String, "generator_quality": pl.String, "notes": pl.String,
    },
    keys=("family_id", "auditor"),
)
