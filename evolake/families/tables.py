"""The tables of the families line, as `tables.toml` declares them.

Those in ARCHIVE are carried from cycle to cycle (`population`); single assets add the others.
"""

from __future__ import annotations

from pathlib import Path

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, read_tables

INVENTED = "invented"
"""The operator of a family that a model wrote without a parent."""

DECLARED = read_tables(Path(__file__).with_name("tables.toml"))
FAMILIES = DECLARED["families"]
ACCEPTED = DECLARED["accepted"]
CANDIDATES = DECLARED["candidates"]
FURTHER = DECLARED["further"]
LEARNABILITY_READ = DECLARED["learnability_read"]
LEARNABILITY = DECLARED["learnability"]
SURVIVAL = DECLARED["survival"]
EXPERIENCE = DECLARED["experience"]
ARCHIVE: dict[str, TableSchema] = {
    "families": FAMILIES,
    "derivations": DERIVATIONS,
    "experience": EXPERIENCE,
    "state": STATE,
}
FAILED_PROPOSALS = DECLARED["unmade"]
MEASURED = DECLARED["measured_drafts"]
IDEAS = DECLARED["ideas"]
SEED_EVIDENCE = DECLARED["seed_evidence"]
GATED = DECLARED["gated"]
RULE_BITES = DECLARED["rule_bites"]
VOTES = DECLARED["consensus_labels"]
VALIDATOR_VOTES = DECLARED["validator_votes"]
VALIDATOR_AUTHORS = DECLARED["validator_authors"]
REVIEWS = DECLARED["blind_reviews"]
INSTANCES = DECLARED["instances"]
DROPPED = DECLARED["dropped_instances"]
COMPLEXITY = DECLARED["complexity"]
FUNNEL = DECLARED["funnel"]
RESOURCES = DECLARED["resources"]
FAILURES = DECLARED["failures"]
DRIFT = DECLARED["drift"]
DRIFT_SUMMARY = DECLARED["drift_summary"]
GRADES = DECLARED["audit_grades"]
INDEPENDENT_ANSWERS = DECLARED["independent_answers"]
SOLVER_RATES = DECLARED["solver_rates"]
PLANTED = DECLARED["planted_faults"]
KILL_RATES = DECLARED["kill_rates"]


def further_table(asset: str) -> str:
    """Return where the candidates are that got further at a gate of `asset`."""
    return f"{FURTHER.name}_{asset}"
