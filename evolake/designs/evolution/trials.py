"""A trial: a design next to the one that it starts from, at small sizes, on planted instances that no
experiment and no contest draws.

Seeds come from the root seed, the cycle, the size and the number of the batch, so every design of a cycle is
tried on the same instances. What ends a run is counted, so a trial says the same on every machine; the rows
keep its cost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.designs.engines.engine import Simulation
from evolake.designs.engines.isolated import Run, run_apart
from evolake.designs.evolution.attempts import ratio_text
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.schedule import MOST_STEPS_PER_WORK
from evolake.designs.model.contract import TracedDesign
from evolake.designs.settings import DesignsSettings
from evolake.errors import InputError
from evolake.gates import read_reason
from evolake.seeds import child_seed

TRIAL_S = 20.0
"""Counted seconds that one run of a trial may take."""
SIDES = ("yours", "start")


@dataclass(frozen=True)
class TrialSize:
    """What a trial runs: `seeds` batches of `instances` formulas with `variables`, each allowed a work of
    `max_work`."""

    variables: int
    instances: int
    seeds: int
    max_work: int


REVISION_SIZES = (TrialSize(40, 24, 8, 1500), TrialSize(80, 24, 8, 3000))
"""What a one-shot design is measured at before it may be revised: some 2 counted seconds of a core."""


@dataclass(frozen=True)
class TrialRunner:
    """Runs trials under one root seed and cycle."""

    settings: DesignsSettings
    cycle: str
    root_seed: int

    def run(
        self, ours: TracedDesign, start: TracedDesign, sizes: Sequence[TrialSize]
    ) -> list[dict[str, Any]]:
        """Return a row for each run: columns of TRIALS but cycle, number and design_id."""
        return [
            self._row(side, size, batch, json.dumps(design.to_json()))
            for size in sizes
            for batch in range(size.seeds)
            for side, design in zip(SIDES, (ours, start), strict=True)
        ]

    def _row(self, side: str, size: TrialSize, batch: int, traced: str) -> dict[str, Any]:
        seed = child_seed(self.root_seed, LINE, self.cycle, f"trial {batch}", size.variables)
        run = Run(
            traced,
            size.variables,
            size.instances,
            seed,
            MOST_STEPS_PER_WORK * size.max_work,
            instance_seed=seed,
            ratio=self.settings.ratio,
            max_work=size.max_work,
            core_s=TRIAL_S,
        )
        row: dict[str, Any] = {
            "side": side,
            "N": size.variables,
            "batch": size.instances,
            "pair": batch,
            "seed": seed,
            "max_work": float(size.max_work),
        }
        try:
            done: Simulation = run_apart(run)
        except InputError as error:
            return row | {"solved": False, "timed_out": False, "steps_run": 0, "failure": error.what}
        return row | {
            "solved": done.reached,
            "unsolved_fraction": float(done.unsolved_fraction),
            "median_step": int(done.median_step),
            "steps_run": int(done.steps_run),
            "work_per_step": float(done.work_per_step),
            "median_work": float(done.median_work),
            "timed_out": bool(done.timed_out),
            "diverged": int(done.diverged),
            "failure": done.failure,
            "cpu_s": float(done.cpu_s),
        }


def trial_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the ratio of work with its interval and what each side did, a line for each size; no times."""
    lines = []
    for n, ours, start in by_size(rows):
        size = (
            f"{len(ours)} {'batches' if len(ours) > 1 else 'batch'} of {ours[0]['batch']} instances, a "
            f"work of {ours[0]['max_work']:.0f} allowed"
        )
        lines.append(
            f"N={n} ratio: {_ratio_line(ours, start)}. Yours {_side_text(ours)}; start "
            f"{_side_text(start)}. ({size})"
        )
    return "\n".join(lines)


def by_size(
    rows: Sequence[Mapping[str, Any]],
) -> list[tuple[int, list[Mapping[str, Any]], list[Mapping[str, Any]]]]:
    """Return (variables, runs of the design, runs of the start) for each size, ascending; pairs are in the
    same order."""

    def runs(n: int, side: str) -> list[Mapping[str, Any]]:
        return [row for row in rows if row["N"] == n and row["side"] == side]

    return [(n, runs(n, SIDES[0]), runs(n, SIDES[1])) for n in sorted({row["N"] for row in rows})]


def worth_revising(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a trial says what to revise: at some size the design broke, or solved fewer batches than
    the design that it starts from.

    A gain leaves nothing to revise, a difference within the noise does not say what to change, and more work
    for the same answers is the outcome of the idea, which the next planner reads.
    """
    return any(
        any(row["failure"] for row in ours)
        or sum(row["solved"] for row in ours) < sum(row["solved"] for row in start)
        for _, ours, start in by_size(rows)
    )


def mean_gain(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return the mean log ratio of the start's work to its own; a run that was not solved counts with the
    work that it was allowed."""
    works = {
        side: [math.log(max(1.0, _work_needed(row))) for row in rows if row["side"] == side] for side in SIDES
    }
    return math.fsum(start - own for own, start in zip(works["yours"], works["start"], strict=True)) / max(
        1, len(works["yours"])
    )


def _work_needed(row: Mapping[str, Any]) -> float:
    return float(row["median_work"] if row["solved"] else row["max_work"])


def _side_text(rows: Sequence[Mapping[str, Any]]) -> str:
    if failure := next((row["failure"] for row in rows if row["failure"]), None):
        return f"it broke: {read_reason(failure) or failure}"[:600]
    solved = [row for row in rows if row["solved"]]
    text = f"solved {len(solved)} of {len(rows)}"
    if solved:
        work = math.exp(math.fsum(math.log(max(1, row["median_work"])) for row in solved) / len(solved))
        text += f" with a median work of {work:.0f}"
    text += f", a step costs {rows[0]['work_per_step']:.3f}"
    diverged, cut = sum(row["diverged"] for row in rows), sum(row["timed_out"] for row in rows)
    return (
        text
        + (f", {diverged} instances diverged" if diverged else "")
        + (f", a clock cut {cut} runs" if cut else "")
    )


def _ratio_line(ours: Sequence[Mapping[str, Any]], start: Sequence[Mapping[str, Any]]) -> str:
    pairs = [
        (own, other) for own, other in zip(ours, start, strict=True) if own["solved"] and other["solved"]
    ]
    gains = [math.log(max(1.0, other["median_work"]) / max(1.0, own["median_work"])) for own, other in pairs]
    return ratio_text(gains, "batches that both solved") or "no batch was solved by both"
