"""Benchmark rows as rows of the shared table of evaluations."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

COUNTERS = ("conflicts", "decisions", "propagations", "restarts", "instructions")


def _status(row: dict[str, Any]) -> str:
    """Return the status of an evaluation of a row of RUNS."""
    if row["status"] == "wrong" or not row["answer"]:
        return row["status"]
    return "solved" if row["solved"] else "unsolved"


def evaluation_rows(runs: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows of EVALUATIONS for rows of RUNS. `seed` is the repetition: two runs of one formula are two
    rows."""
    return [
        {
            "artifact_id": row["variant_id"],
            "suite": row["suite"],
            "instance": row["instance"],
            "seed": row["repeat"],
            "status": _status(row),
            "cpu_s": row["cpu_s"],
            "wall_s": row["wall_s"],
            "peak_mb": row["peak_mb"],
            "counters": json.dumps({name: row[name] for name in COUNTERS if row[name] is not None}),
            "certificate": row["certificate"],
            "host": row["host"],
        }
        for row in runs.to_dicts()
    ]
