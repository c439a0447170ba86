"""Every table that the line publishes under a name of its own, for SQL and for `evolake sql --schema`."""

from __future__ import annotations

from evolake.families.gates.specs import GATES
from evolake.gate_spec import gates_of_assets
from evolake.lake import TableSchema, incoming_tables


def known_tables() -> dict[str, TableSchema]:
    """asset -> schema."""
    from evolake.families import tables
    from evolake.families.tables_faults import KILL_RATES, PLANTED

    gates = gates_of_assets(GATES)
    named = (
        tables.CANDIDATES, tables.UNMADE, tables.VALIDATOR_VOTES, tables.VALIDATOR_AUTHORS, tables.INSTANCES, tables.DROPPED, tables.COMPLEXITY,
        tables.LEARNABILITY_READ, tables.LEARNABILITY, tables.SURVIVAL, tables.FUNNEL, tables.RESOURCES, tables.FAILURES, tables.EXPERIENCE,
        tables.DRIFT, tables.DRIFT_SUMMARY, tables.GRADES, PLANTED,
    )
    return incoming_tables(tables.ARCHIVE) | {schema.name: schema for schema in named} | {
        **dict.fromkeys(("seeds", "immigrant_families", "accepted", "survivors"), tables.FAMILIES),
        **{tables.further_table(asset): tables.FURTHER for asset in gates}, **dict.fromkeys(gates, tables.GATED),
        "consensus_labels": tables.VOTES, "blind_reviews": tables.REVIEWS,
        "fault_kill_rates": KILL_RATES,
    }
