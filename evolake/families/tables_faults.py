"""Types of the tables of the mutation test: one row per planted fault, and the kill rate of each class by
gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evolake.families import tables
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.gate_spec import gates_of_assets
from evolake.lake.schemas import TableSchema, incoming_tables, tables_by_name

if TYPE_CHECKING:
    from evolake.families.faults.injection import KillRate, Planted

PLANTED = TableSchema(
    "planted_faults",
    1,
    {
        "fault": (pl.String, "Class of what was planted, by name."),
        "expected": (pl.String, "Gate that is meant to catch the class; none if no gate is meant to see it."),
        "family_id": (pl.String, "Sound family that it was planted into."),
        "name": (pl.String, "Name of that family's folder."),
        "planted_id": (pl.String, "Family with the fault in it; empty where the class does not apply."),
        "outcome": (
            pl.String,
            "caught, survived, or does not apply (the family has nothing to plant it in).",
        ),
        "gate": (pl.String, "Gate that caught it; empty if none did."),
        "rule_id": (pl.String, "Rule that caught it; empty if none did."),
        "reason": (pl.String, "What the rule objected to, or why the class does not apply."),
    },
    keys=("fault", "family_id"),
)
KILL_RATES = TableSchema(
    "kill_rates",
    1,
    {
        "fault": (pl.String, "Class of what was planted, by name."),
        "expected": (pl.String, "Gate that is meant to catch the class; none if no gate is meant to see it."),
        "gate": (pl.String, "Gate that caught some of the class; empty if none did."),
        "planted": (pl.Int64, "Families that the fault was planted into."),
        "caught_here": (pl.Int64, "How many of them this gate caught."),
        "caught": (pl.Int64, "How many of them any gate caught."),
        "does_not_apply": (pl.Int64, "Families that could not take the fault."),
        "rate": (pl.Float64, "caught over planted, from 0 to 1; null if no family took it."),
    },
    keys=("fault", "gate"),
)
"""One row per class and gate that caught some of it; a class that nothing caught has one row with an empty
gate."""
TABLES = (
    incoming_tables(tables.ARCHIVE)
    | tables_by_name(
        tables.CANDIDATES,
        tables.FAILED_PROPOSALS,
        tables.IDEAS,
        tables.MEASURED,
        tables.SEED_EVIDENCE,
        tables.VALIDATOR_VOTES,
        tables.VALIDATOR_AUTHORS,
        tables.INSTANCES,
        tables.DROPPED,
        tables.COMPLEXITY,
        tables.LEARNABILITY_READ,
        tables.LEARNABILITY,
        tables.SURVIVAL,
        tables.FUNNEL,
        tables.RESOURCES,
        tables.FAILURES,
        tables.EXPERIENCE,
        tables.DRIFT,
        tables.DRIFT_SUMMARY,
        tables.GRADES,
        tables.INDEPENDENT_ANSWERS,
        PLANTED,
    )
    | {
        **dict.fromkeys(("seeds", "immigrant_families", "survivors"), tables.FAMILIES),
        "accepted": tables.ACCEPTED,
        "fault_kill_rates": KILL_RATES,
        **dict.fromkeys(map(tables.further_table, gates_of_assets(GATES)), tables.FURTHER),
        **dict.fromkeys(gates_of_assets(GATES), tables.GATED),
        **tables_by_name(tables.VOTES, tables.REVIEWS),
    }
)
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""


def planted_rows(rows: Sequence[Planted]) -> list[dict[str, Any]]:
    """Return rows of PLANTED."""
    return [asdict(row) for row in rows]


def kill_rate_rows(rates: Sequence[KillRate]) -> list[dict[str, Any]]:
    """Return rows of KILL_RATES."""
    return [
        {
            "fault": rate.fault,
            "expected": rate.expected,
            "gate": gate,
            "planted": rate.planted,
            "caught_here": count,
            "caught": rate.caught,
            "does_not_apply": rate.does_not_apply,
            "rate": rate.rate if rate.planted else None,
        }
        for rate in rates
        for gate, count in (rate.gates or {"": 0}).items()
    ]


def figure_of(frame: pl.DataFrame) -> bytes:
    """Return the kill rates as a PNG. frame: rows of KILL_RATES."""
    from evolake.plots import FaultKills
    from evolake.plots import kill_rates as drawn
    from evolake.stats.proportions import wilson_interval

    classes: dict[str, FaultKills] = {}
    for row in frame.to_dicts():
        so_far = classes.get(row["fault"])
        gates = dict(so_far.gates) if so_far else {}
        classes[row["fault"]] = FaultKills(
            row["fault"], row["planted"], gates | ({row["gate"]: row["caught_here"]} if row["gate"] else {})
        )
    bounds = {
        fault: wilson_interval(kills.planted - kills.survived, kills.planted)
        for fault, kills in classes.items()
        if kills.planted
    }
    with_intervals = [
        replace(kills, interval=(share.low, share.high)) if (share := bounds.get(fault)) else kills
        for fault, kills in classes.items()
    ]
    return drawn(with_intervals, GATE_NAMES, "Planted faults and the gates that catch them")
