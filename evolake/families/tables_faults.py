"""Which asset publishes which table of the line, and the rows of the mutation test's tables: one per planted
fault, and the kill rate of each class by gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evolake.families import tables
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.gate_spec import gates_of_assets
from evolake.lake.schemas import incoming_tables

if TYPE_CHECKING:
    from evolake.families.faults.injection import KillRate, Planted

TABLES = (
    incoming_tables(tables.ARCHIVE)
    | dict.fromkeys(map(tables.further_table, gates_of_assets(GATES)), tables.FURTHER)
    | dict.fromkeys(gates_of_assets(GATES), tables.GATED)
    | tables.DECLARED.assets
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
    from evolake.families.plots import FaultKills
    from evolake.families.plots import kill_rates as drawn
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
