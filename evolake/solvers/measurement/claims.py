"""What an UNSAT answer of a run is worth: verified, unproved or unchecked, each of them exactly one, as
conditions in SQL.

DuckDB asks tables in them and Polars frames (`polars.sql_expr`), so that a report, a question and a table of
metrics count the same. Every table of runs has the columns: `status`, `certificate`, `proof_status`. Only a
verified answer is solved and counts as a match with the truth.
"""

from __future__ import annotations

UNSAT = "status = 'unsat'"
UNCHECKED = f"{UNSAT} AND certificate IS NULL AND coalesce(proof_status, 'unchecked') = 'unchecked'"
"""Outside of the share of proofs that is checked."""
UNPROVED = f"{UNSAT} AND certificate IS NULL AND coalesce(proof_status, 'unchecked') <> 'unchecked'"
"""A proof was asked for, and was refuted, was missing or incomplete, could not be read, could not be decided
within the limits, or is none that the solver writes."""
VERIFIED = f"{UNSAT} AND certificate = 'proof'"
UNSOUND = "status = 'wrong' OR proof_status = 'refuted'"
"""Of answers of either kind: refuted by a model, a proof or the formula's known status."""


def counted(condition: str) -> str:
    """Return how many rows fulfil it, as an aggregate of DuckDB."""
    return f"count(*) FILTER ({condition})"


def share_in_words(unsat: int, unchecked: int) -> str:
    """Return how much of UNSAT answers was checked, in words; "" if there are none."""
    if not unsat:
        return ""
    if not unchecked:
        return "every proof checked"
    return (
        f"{(unsat - unchecked) / unsat:.0%} of the proofs checked"
        if unchecked < unsat
        else "no proof checked"
    )
