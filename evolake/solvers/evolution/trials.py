"""A variant next to its parent on formulas that are drawn for it: what a coder measures before the benchmark
and the contest measure.

The formulas are those of the training suite's recipes with other seeds, under the lake's secret; a word names
the draw, so that the same word gives the same formulas. They are none of the benchmark's, of a contest's or
of the holdout's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.contest import LEAST_FORMULAS, mean_ratio
from evolake.solvers.measurement.benchmark import StageLimits
from evolake.solvers.measurement.measuring import Job, Rows, run_all
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.process.execute import Program
from evolake.solvers.suites import Instance, Suite
from evolake.solvers.suites.generators import pcg

PARENT = "parent"
TRIAL = "trial"
"""What GATE_RUNS calls the runs of a variant next to its parent before the benchmark."""
LEAST_COST_S = 1e-6
WORD = 12
"""Hex digits of the word of a draw, which are behind the @ in the names of its formulas."""


@dataclass(frozen=True)
class TrialPlace:
    """Where trials are run. fresh: word of a draw -> its formulas, with files. limits: of a run."""

    fresh: Callable[[str], Suite]
    limits: StageLimits
    cycle: str

    def draw(self, word: str, count: int) -> Suite:
        """Return `count` formulas of a draw, of as many recipes."""
        suite = self.fresh(word)
        chosen = sorted(pcg(int(word, 16)).permutation(len(suite.instances))[:count].tolist())
        return Suite(suite.name, tuple(suite.instances[place] for place in chosen))

    def run(self, programs: Mapping[str, Program], instances: Sequence[Instance], suite: str) -> Rows:
        """Return rows of RUNS: each formula by each program, one after another on one core, with every proof
        checked. programs: id -> solver."""
        return run_all(
            [
                Job(
                    who, program, instance, suite, self.cycle, self.limits.run, proof_limits=self.limits.proof
                )
                for instance in instances
                for who, program in programs.items()
            ]
        )


@dataclass(frozen=True)
class Trial:
    """A variant and its parent on a few formulas. rows: of RUNS, by whole ids. text: for the coder. ratio:
    PAR-2, parent over variant."""

    rows: Rows
    text: str
    ratio: float

    def record(self) -> dict[str, Any]:
        """Return it as JSON that it can be made from again."""
        return {"rows": list(self.rows), "text": self.text, "ratio": self.ratio}


def word_of(*content: str) -> str:
    """Return the word of a draw that follows from this content."""
    return hashlib.sha256("\x1f".join(content).encode()).hexdigest()[:WORD]


def word_in(formula: str) -> str:
    """Return the word of the draw that a formula's name bears, "" if it bears none."""
    word = formula.partition("@")[2].partition("~")[0]
    return word if len(word) == WORD and not set(word) - set("0123456789abcdef") else ""


def trial_costs(rows: Sequence[Mapping[str, Any]], who: str) -> list[float]:
    """Return the PAR-2 cost in seconds of one side, formula by formula."""
    return [
        max(LEAST_COST_S, row["cpu_s"] if row["solved"] else PENALTY * row["timeout_s"])
        for row in rows
        if row["variant_id"] == who
    ]


def run_text(row: Mapping[str, Any], who: str = "") -> str:
    """Return one run in a line: what is true of the answer is the host's word, not the solver's."""
    parts = [who, row["instance"], row["status"], f"{row['cpu_s']:.2f} s"]
    parts += [
        f"{row['conflicts']} conflicts" if row["conflicts"] is not None else "",
        f"proof {row['proof_status']}" if row["proof_status"] else "",
    ]
    parts += [str(row["problems"] or "")]
    return "  ".join(part for part in parts if part)


def trial_of(rows: Rows, parent: str, child: str) -> Trial:
    """Return a trial from its runs. parent, child: the whole ids."""
    names = {parent: PARENT, child: "yours"}
    text = "\n".join(
        [*(run_text(row, names[row["variant_id"]]) for row in rows), ratio_text(rows, parent, child)]
    )
    return Trial(rows, text, sum(trial_costs(rows, parent)) / sum(trial_costs(rows, child)))


def ratio_text(rows: Sequence[Mapping[str, Any]], parent: str, child: str) -> str:
    """Return the ratio of PAR-2, parent over child, with its interval, in a line."""
    theirs, ours = trial_costs(rows, parent), trial_costs(rows, child)
    contest = mean_ratio(np.array(theirs), np.array(ours), pcg(len(ours)))
    upper = f"{contest.high:.3g}" if np.isfinite(contest.high) else "no upper end"
    few = f"; fewer than {LEAST_FORMULAS} formulas decide nothing" if len(ours) < LEAST_FORMULAS else ""
    interval = f"{contest.effect:.3g} (95% interval {contest.low:.3g} to {upper}; above 1 is a gain)"
    return f"PAR-2 ratio, parent over yours: {interval} on {len(ours)} formulas{few}"
