"""Gate 4, stability: whether what a variant gains on formulas that can be known carries over to copies of
them that cannot.

Each formula is run as the suite has it and in copies, renamed and shuffled under the lake's secret, with the
arguments and limits of any other run, so that a variant cannot know which of them it is in. To a search they
are draws of one distribution. A table of answers ends immediately on the first. Further copies are padded
with a few fresh variables and clauses: who searches otherwise than its seed on all copies but on these
decides by sizes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evolake.solvers.gates.runs import PROOF_LIMITS, GateRunner
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.rules.outcomes import ANSWERS, COPY
from evolake.solvers.suites.fresh import CARRIED, PADDED
from evolake.solvers.suites.spec import Suite
from evolake.solvers.tables import CLOCK

DIGITS = 3


def carry_runs(runner: GateRunner, suite: Suite) -> Rows:
    """Return rows with the columns of RUNS, of suite `carried`: the formulas of `fresh.carried_suite`. Proofs
    are written and not checked."""
    unchecked = replace(runner, proof_limits=PROOF_LIMITS, verdicts=None)
    return runner.run([unchecked.job(item, suite, proof_share=0.0) for item in suite.instances])


def is_carried(row: Mapping[str, Any]) -> bool:
    """Return whether a row is one of `carry_runs`."""
    return row["suite"] == CARRIED


def carry_evidence(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the rules judge, one mapping per formula.

    instance: its name. original, copies: seconds of processor time, the limit if unanswered. conflicts:
    number of the copy (0: the original) -> its conflicts, padded: the same of the padded copies; null of a
    run that was not answered or reports none.

    Runs that the clock cut short are left out, and formulas whose original is one of them.
    """
    costs: dict[str, dict[int, float]] = defaultdict(dict)
    conflicts: dict[str, dict[int, int | None]] = defaultdict(dict)
    padded: dict[str, dict[int, int | None]] = defaultdict(dict)
    for row in rows:
        if row["status"] == CLOCK:
            continue
        name, place = _formula_of(row["instance"]), int(row["shuffle"])
        counted = padded if f"{COPY}{PADDED}" in row["instance"] else conflicts
        counted[name][place] = row["conflicts"] if row["answer"] in ANSWERS else None
        if counted is conflicts:
            seconds = float(row["cpu_s"]) if row["answer"] in ANSWERS else float(row["timeout_s"])
            costs[name][place] = round(seconds, DIGITS)
    return [
        {
            "instance": name,
            "original": seconds[0],
            "copies": [cost for number, cost in sorted(seconds.items()) if number],
            "conflicts": _by_copy(conflicts[name]),
            "padded": _by_copy(padded[name]),
        }
        for name, seconds in sorted(costs.items())
        if 0 in seconds
    ]


def _formula_of(instance: str) -> str:
    return instance.split(f"{COPY}{CARRIED}")[0].split(f"{COPY}{PADDED}")[0]


def _by_copy(counts: Mapping[int, int | None]) -> dict[str, int | None]:
    """Return the counts under the names that JSON gives back."""
    return {str(number): count for number, count in sorted(counts.items())}
