"""Try a design next to the one that it starts from, at small sizes, on planted instances that no experiment
and no contest draws; and the session of a model that traces and tries what it wrote.

Seeds come from the root seed, the cycle, the size and the number of the batch, so every design of a cycle is
tried on the same instances. What ends a run is counted, so a trial says the same on every machine; the rows
keep its cost.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session_roles import RunCommand, SessionSpec, Unusable, hold_session, require_model
from evolake.agents.session_tools import Call, CommandReport, Workspace, well_formed
from evolake.designs.engines.engine import Simulation
from evolake.designs.engines.isolated import Run, fits_apart, run_apart
from evolake.designs.evolution.attempts import ratio_text
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.schedule import MOST_STEPS_PER_WORK
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.roles.designer import (
    DESIGN_SESSION,
    Check,
    DesignCard,
    DesignSessionRequest,
    ReferenceCard,
    Trial,
)
from evolake.designs.roles.models import DesignReply, DesignRequest
from evolake.designs.settings import DesignsSettings
from evolake.designs.tracing.trace import trace
from evolake.errors import InputError
from evolake.gates import read_reason
from evolake.seeds import child_seed
from evolake.settings import BudgetSettings

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
            f"work of {ours[0]['max_work']:.0f} allowed; solved: more than half of its instances"
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


FILE, BASELINE = "design.py", "references/baseline.py"


KeepRows = Callable[[Sequence[Mapping[str, Any]]], None]
PAIRS_OF_A_TRIAL = 100
"""The pairs of the n-th trial of a session are numbered from n times this."""


@dataclass
class TrialCount:
    """Counts the trials of a session, recorded ones included. keep: takes their rows."""

    keep: KeepRows
    trials: int = 0

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows of one command."""
        self.trials += bool(rows)
        self.keep(rows)


@dataclass
class SessionDesigner:
    """Holds a session for each design that is asked for. pool: the jail that traces. call: that of the file
    tools. turns: of a session at most."""

    agents: Agents
    pool: Any
    call: Call
    settings: DesignsSettings
    cycle: str
    root_seed: int
    turns: int = 40

    def write(
        self, request: DesignRequest, *, seed: int, attempt: int, keep: KeepRows = lambda rows: None
    ) -> Reply[DesignReply | AgentFailure]:
        """Return the session's file as a reply like any other; an AgentFailure with a typed status if it was
        not finished.

        keep: takes the runs of each trial, rows of TRIALS but cycle and number, also when the session is
        replayed.
        """
        count = TrialCount(keep)
        files, start = starting_files(request)
        workspace = Workspace(
            {name: well_formed(text) for name, text in files.items()}, lambda path: path == FILE
        )
        commands = self.commands(files[FILE], count)
        spec = SessionSpec(
            DESIGN_SESSION,
            request_of(request, start, self.turns),
            workspace,
            design_reply,
            commands,
            keep=count.add,
        )
        return hold_session(self.agents, spec, self.call, seed=seed, attempt=attempt)

    def commands(self, start: str, count: TrialCount) -> Mapping[str, RunCommand]:
        """Return the commands of a session that begins with the file `start`. count: its trials so far."""
        return {
            "check": lambda folder, arguments: self.check(_source(folder), arguments),
            "trial": lambda folder, arguments: self.trial(
                _source(folder), start, arguments, count.trials + 1
            ),
        }

    def check(self, source: str, arguments: Check) -> str:
        """Return what tracing it comes to."""
        result = self._traced(source)
        if isinstance(result, Blocked):
            return f"It is no design yet: {result.gate}: {result.reason}"
        return (
            f"It is a design of {len(result.gradient().nodes)} operators and {len(result.hypers)} "
            "hyperparameters."
        )

    def trial(self, source: str, start: str, arguments: Trial, number: int = 1) -> str | CommandReport:
        """Return both designs on the same instances, in steps and work; no times, so that the same session
        gives the same. number: of the trial."""
        traced = {side: self._traced(text) for side, text in zip(SIDES, (source, start), strict=True)}
        for side, result in traced.items():
            if isinstance(result, Blocked):
                return f"{side}: it is no design: {result.gate}: {result.reason}"
        ours, theirs = (result for result in traced.values() if isinstance(result, TracedDesign))
        size = TrialSize(arguments.variables, arguments.instances, arguments.seeds, arguments.max_steps)
        rows = TrialRunner(self.settings, self.cycle, self.root_seed).run(ours, theirs, [size])
        draft = hashlib.sha256(source.encode()).hexdigest()
        return CommandReport(
            trial_text(rows),
            [row | {"design_id": draft, "pair": PAIRS_OF_A_TRIAL * number + row["pair"]} for row in rows],
        )

    def _traced(self, source: str) -> TracedDesign | Blocked:
        return alone(
            lambda: trace(source, pool=self.pool, fits=fits_apart), lambda reason: Blocked(reason, "load")
        )


def starting_files(request: DesignRequest) -> tuple[dict[str, str], str]:
    """Return the workspace at the start: references, baseline, and design.py, which is the first reference if
    there is one. And which that is."""
    files = {f"references/{reference.design_id}.py": reference.source for reference in request.references} | {
        BASELINE: request.baseline_source
    }
    start = next(iter(files))
    return files | {FILE: files[start]}, start


def request_of(request: DesignRequest, start: str, turns: int) -> DesignSessionRequest:
    """Return what the session is shown."""
    return DesignSessionRequest(
        phase=request.phase,
        direction=request.direction,
        rationale=request.rationale,
        focus=request.focus,
        avoid=request.avoid,
        key_insights=request.key_insights,
        objectives=request.objectives,
        schedule=request.schedule,
        start=start,
        outcomes=request.outcomes,
        tried=request.tried,
        sibling=request.sibling,
        turns=turns,
        references=[
            ReferenceCard(
                file=f"references/{reference.design_id}.py",
                detail=reference.model_copy(update={"source": "(see the file)"}),
            )
            for reference in request.references
        ],
    )


def design_reply(card: DesignCard, workspace: Workspace) -> DesignReply:
    """Return the session's file as a reply like any other. Raises Unusable if it makes none."""
    try:
        return DesignReply(
            explanation=card.explanation,
            solver_code=well_formed(workspace.files.get(FILE, "")),
            short_name=card.short_name,
            reference_weights=card.reference_weights,
        )
    except ValidationError as error:
        raise Unusable(f"{FILE}: {error.errors()[0]['msg']}") from None


def chosen_designer(sizes: DesignsSettings, backend: str, budget: BudgetSettings) -> str:
    """Return `session` or `one-shot`: the setting `designer`, and of `auto` what the budget allows.

    Raises:
        InputError: sessions are asked for and the backend is no model.
    """
    require_model("a designer", DESIGN_SESSION, sizes.designer, backend)
    if sizes.designer != "auto":
        return sizes.designer
    allowed = [tokens for tokens in (budget.tokens_per_cycle, budget.tokens_per_run) if tokens is not None]
    affordable = bool(allowed) and min(allowed) >= sizes.session_tokens * sizes.designs_per_cycle
    return "session" if backend == "model" and affordable else "one-shot"


def _source(folder: Path) -> str:
    path = folder / FILE
    return path.read_text("utf-8", "replace") if path.is_file() else ""
