"""The designer as a session of a model: its workspace, and the commands that trace and try what it wrote.

Trials are run on planted instances of their own, drawn by the root seed and the cycle: no experiment and no duel of champions draws them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session.role import require_model
from evolake.agents.session.tools import Call
from evolake.agents.session.workspace import Workspace, well_formed
from evolake.agents.session_spec import RunCommand, SessionSpec, Unusable, hold_session
from evolake.designs.engines.isolated import Run, run_apart
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.schedule import MOST_STEPS_PER_WORK
from evolake.designs.model.boundary import alone
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.roles.designer_session import DESIGN_SESSION, Check, DesignCard, DesignSessionRequest, ReferenceCard, Trial
from evolake.designs.roles.models import DesignReply, DesignRequest
from evolake.designs.settings import DesignsSettings
from evolake.designs.tracing.trace import trace
from evolake.errors import InputError
from evolake.gates import read_reason
from evolake.seeds import child_seed

FILE, BASELINE = "design.py", "references/baseline.py"
TRIAL_S = 20.0


@dataclass
class SessionDesigner:
    """Holds a session for each design that is asked for. pool: the jail that traces. call: that of the file tools."""

    agents: Agents
    pool: Any
    call: Call
    settings: DesignsSettings
    cycle: str
    root_seed: int

    def write(self, request: DesignRequest, *, seed: int, attempt: int) -> Reply[DesignReply | AgentFailure]:
        """Return the session's file as a reply like any other; an AgentFailure with a typed status if it was not finished."""
        files, start = starting_files(request)
        workspace = Workspace({name: well_formed(text) for name, text in files.items()}, lambda path: path == FILE)
        spec = SessionSpec(DESIGN_SESSION, request_of(request, start), workspace, design_reply, self.commands(files[FILE]))
        return hold_session(self.agents, spec, self.call, seed=seed, attempt=attempt)

    def commands(self, start: str) -> Mapping[str, RunCommand]:
        """The commands of a session that begins with the file `start`."""
        return {
            "check": lambda folder, arguments: self.check(_source(folder), arguments),
            "trial": lambda folder, arguments: self.trial(_source(folder), start, arguments),
        }

    def check(self, source: str, arguments: Check) -> str:
        """What tracing it comes to."""
        result = self._traced(source)
        if isinstance(result, Blocked):
            return f"It is no design yet: {result.gate}: {result.reason}"
        return f"It is a design of {len(result.gradient().nodes)} operators and {len(result.hypers)} hyperparameters."

    def trial(self, source: str, start: str, arguments: Trial) -> str:
        """Both designs on the same instances, in steps and work; no times, so that the same session says the same."""
        return "\n".join(f"{who}: {self._run(text, arguments)}" for who, text in (("yours", source), ("start", start)))

    def _run(self, source: str, arguments: Trial) -> str:
        result = self._traced(source)
        if isinstance(result, Blocked):
            return f"it is no design: {result.gate}: {result.reason}"
        seed = child_seed(self.root_seed, LINE, self.cycle, "trial", arguments.variables)
        run = Run(
            json.dumps(result.to_json()), arguments.variables, arguments.instances, seed, MOST_STEPS_PER_WORK * arguments.max_steps,
            instance_seed=seed, ratio=self.settings.ratio, max_work=arguments.max_steps, core_s=TRIAL_S,
        )
        try:
            done = run_apart(run)
        except InputError as error:
            return f"it cannot be run: {error.what}"
        if done.failure:
            return f"it broke: {read_reason(done.failure) or done.failure}"[:600]
        at = f"step {done.median_step}, a work of {done.median_work:.0f}"
        reached = f"half of them are solved at {at}" if done.reached else f"not half of them are solved; the median is put at {at}"
        more = f", {done.diverged} diverged" if done.diverged else ""
        cut = ", cut off by the clock" if done.timed_out else ""
        size = f"N={arguments.variables}, {arguments.instances} instances"
        steps = f"{done.steps_run} steps of {done.work_per_step:.2f} times the baseline's work"
        return f"{size}: {reached}, {done.unsolved_fraction:.0%} unsolved after {steps}{more}{cut}"

    def _traced(self, source: str) -> TracedDesign | Blocked:
        return alone(lambda: trace(source, pool=self.pool), lambda reason: Blocked(reason, "load"))


def starting_files(request: DesignRequest) -> tuple[dict[str, str], str]:
    """The workspace at the start: references, baseline, and design.py, which is the first reference where there is one. And which that is."""
    files = {f"references/{reference.design_id}.py": reference.source for reference in request.references} | {BASELINE: request.baseline_source}
    start = next(iter(files))
    return files | {FILE: files[start]}, start


def request_of(request: DesignRequest, start: str) -> DesignSessionRequest:
    """What the session is told."""
    return DesignSessionRequest(
        phase=request.phase, direction=request.direction, rationale=request.rationale, focus=request.focus, avoid=request.avoid,
        key_insights=request.key_insights, objectives=request.objectives, schedule=request.schedule, start=start,
        references=[
            ReferenceCard(file=f"references/{reference.design_id}.py", detail=reference.model_copy(update={"source": "(see the file)"}))
            for reference in request.references
        ],
    )


def design_reply(card: DesignCard, workspace: Workspace) -> DesignReply:
    """The session's file as a reply like any other. Raises Unusable if it makes none."""
    try:
        return DesignReply(
            explanation=card.explanation, solver_code=well_formed(workspace.files.get(FILE, "")), short_name=card.short_name,
            reference_weights=card.reference_weights,
        )
    except ValidationError as error:
        raise Unusable(f"{FILE}: {error.errors()[0]['msg']}") from None


def check_designer(settings: DesignsSettings, backend: str) -> None:
    """Raises InputError where the setting `designer` cannot be followed."""
    require_model("a designer", DESIGN_SESSION, settings.designer, backend)


def _source(folder: Path) -> str:
    path = folder / FILE
    return path.read_text("utf-8", "replace") if path.is_file() else ""
