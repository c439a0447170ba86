"""The designer as a session of a model: its workspace, and the commands that trace and try what it wrote.

Trials are run on their own planted instances, drawn by the root seed and the cycle: no experiment and no duel
of champions draws them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session_roles import RunCommand, SessionSpec, Unusable, hold_session, require_model
from evolake.agents.session_tools import Call, CommandReport, Workspace, well_formed
from evolake.designs.engines.isolated import fits_apart
from evolake.designs.evolution.trials import SIDES, TrialRunner, TrialSize, trial_text
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.roles.designer_session import (
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
from evolake.settings import BudgetSettings

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
