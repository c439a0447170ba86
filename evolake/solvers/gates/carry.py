"""Gate 4, stability: whether what a variant gains on formulas that can be known carries over to copies of them that cannot.

Each formula is run as the suite has it and in copies, renamed and shuffled under the lake's secret, with the arguments and limits of any other run,
so that a variant cannot tell which of them it is in. To a search they are draws of one distribution. A table of answers ends at once on the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evolake.solvers.gates.runs import PROOF_LIMITS, GateRunner
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.rules.outcomes import ANSWERS, COPY
from evolake.solvers.suites.fresh import CARRIED
from evolake.solvers.suites.spec import Suite
from evolake.solvers.tables import CLOCK

DIGITS = 3


def carry_runs(runner: GateRunner, suite: Suite) -> Rows:
    """Rows with the columns of RUNS, of suite `carried`: the formulas of `fresh.carried_suite`. Proofs are written and not checked."""
    unchecked = replace(runner, proof_limits=PROOF_LIMITS, verdicts=None)
    return runner.run([unchecked.job(item, suite, proof_share=0.0) for item in suite.instances])


def is_carried(row: Mapping[str, Any]) -> bool:
    """Whether a row is one of `carry_runs`."""
    return row["suite"] == CARRIED


def carry_evidence(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what the rule judges, one mapping per formula: instance, original and copies in seconds of processor time, the limit if unanswered.

    Runs that the clock cut short are left out, and formulas whose original is one of them.
    """
    result: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        if row["status"] == CLOCK:
            continue
        seconds = float(row["cpu_s"]) if row["answer"] in ANSWERS else float(row["timeout_s"])
        result[row["instance"].split(COPY + CARRIED)[0]][int(row["shuffle"])] = round(seconds, DIGITS)
    return [
        {"instance": name, "original": costs[0], "copies": [cost for number, cost in sorted(costs.items()) if number]}
        for name, costs in sorted(result.items()) if 0 in costs
    ]
