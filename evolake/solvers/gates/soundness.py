"""Unsound permanently: what one refuted answer, anywhere and ever, does to the variant that gave it.

A wrong model, UNSAT of a formula that has a model, a proof that a checker refutes, that no checker can read
(it is not in the format that the variant declares) or that is not there: one such answer in the benchmark, in
a duel or on the holdout, in whichever cycle, blocks the variant, with a verdict of that stage as its reason.
From then on it is neither ranked nor a parent, a survivor or a champion; a champion falls and the next one
takes its place. It never blocks the line: checks assert that nothing unsound is ranked or survives, not that
nothing is unsound. A proof that a limit left undecided is no proof, so its answer counts as unsolved; it
refutes nothing.

So is a variant whose two answered runs of one formula in the duels of a cycle wrote proofs of different
lengths: it does not repeat itself, and no figure of it means anything. Each formula is run as often on each
side as a duel has pairs, and by a champion once more in every further duel; a challenger in duels of one pair
is not seen, nor is a search that differs and comes to a proof of the same length.

What the runs of a stage come to is judged by the rules of its gate (`tables.LATE_GATES`), so that the reason
is a rule's and the rows are evidence. A seed that is found unsound stays what its variants are compared with
and built from: its sources, not its figures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from evolake.gates import Ruleset, Verdict
from evolake.lake.blobs import BlobStore
from evolake.solvers.gates.evidence import runs_evidence, store_evidence
from evolake.solvers.gates.judging import gate_verdicts

Row = Mapping[str, Any]
Judge = Callable[[Sequence[Row]], list[Verdict]]
"""Rows of RUNS or DUELS -> verdicts on their variants."""


def stage_judge(gate: str, ruleset: Ruleset, blobs: BlobStore, *, cycle: str, run_id: str) -> Judge:
    """Return what judges the runs of one stage; gate: of `tables.LATE_GATES`. A verdict for each variant and
    rule of the gate, in order of ids."""

    def judge(rows: Sequence[Row]) -> list[Verdict]:
        by_variant: dict[str, list[Row]] = defaultdict(list)
        for row in contradicted(rows):
            by_variant[row["variant_id"]].append(row)
        result: list[Verdict] = []
        for variant_id in sorted(by_variant):
            evidence = runs_evidence(by_variant[variant_id])
            sha = store_evidence(evidence, blobs)
            result += gate_verdicts(
                gate, evidence, ruleset, variant_id=variant_id, cycle=cycle, run_id=run_id, evidence_sha=sha
            )
        return result

    return judge


def contradicted(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, where an unproved UNSAT of a formula that another run found a model of is a wrong
    answer, which was not known before."""
    with_model = {_formula(row) for row in rows if row["certificate"] == "model"}
    return [
        {
            **row,
            "status": "wrong",
            "problems": "says UNSAT of a formula that another variant found a model of",
        }
        if row["status"] == "unsat" and row["certificate"] is None and _formula(row) in with_model
        else row
        for row in rows
    ]


def unsound_in(verdicts: Iterable[Verdict]) -> set[str]:
    """Return variants that are refuted, or do not repeat themselves."""
    return {verdict.artifact_id for verdict in verdicts if verdict.outcome == "block"}


def objections(rows: Iterable[Row]) -> dict[str, Row]:
    """Return variant -> the row of VERDICTS that objects to it, the earliest gate's if there are more."""
    ordered = sorted(
        (row for row in rows if row["outcome"] != "pass"), key=lambda row: row["gate_no"], reverse=True
    )
    return {row["artifact_id"]: row for row in ordered}


def without(runs: pl.DataFrame, unsound: Iterable[str]) -> pl.DataFrame:
    """Return rows of RUNS of all other variants."""
    return runs.filter(~pl.col("variant_id").is_in(list(unsound)))


def _formula(row: Row) -> str:
    return str(row.get("formula_sha") or row["instance"])
