"""The writer as a session of a model: its workspace, and the commands that check and evaluate what it wrote, all in the jail.

The evaluator is in no file that a session can read. What `evaluate` says is what the gates and the evaluation of a candidate say, under the seeds of
the search; champions meet under other ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session.role import require_model
from evolake.agents.session.tools import Call
from evolake.agents.session.workspace import Workspace, well_formed
from evolake.agents.session_spec import RunCommand, SessionSpec, Unusable, hold_session
from evolake.gates import GateSpec, run_gates
from evolake.programs.gates.collecting import Candidate
from evolake.programs.gates.specs import GATES
from evolake.programs.model.blocks import as_kept
from evolake.programs.model.project import program_id
from evolake.programs.roles.writer import Measured, WriterReply, WriterRequest
from evolake.programs.roles.writer_session import WRITER_SESSION, ProgramCard, Standing, WriterSessionRequest
from evolake.programs.sandbox.evaluating import shown_metrics

if TYPE_CHECKING:
    from evolake.programs.evolution.context import Context
    from evolake.programs.settings import ProgramsSettings

REFERENCE = "reference"
CHEAP = ("form", "reach")
"""Gates that look at the text alone."""


@dataclass
class SessionWriter:
    """Holds a session for each child that is asked for. call: the jail of the file tools."""

    agents: Agents
    call: Call

    def write(self, context: Context, request: WriterRequest, *, seed: int, attempt: int) -> Reply[WriterReply | AgentFailure]:
        """Return the session's files as a reply like any other; an AgentFailure with a typed status if it was not finished."""
        files = request.parent.files
        workspace = Workspace({name: well_formed(text) for name, text in files.items()}, lambda path: path in files)
        spec = SessionSpec(
            WRITER_SESSION, request_of(request), workspace, writer_reply, commands(context, files), reference=lambda: reference_files(request),
        )
        return hold_session(self.agents, spec, self.call, seed=seed, attempt=attempt)


def commands(context: Context, files: Mapping[str, str]) -> Mapping[str, RunCommand]:
    """The commands of a session on these files of the parent. What a program does wrong is said; only our own machinery raises."""
    def asked(folder: Path, gates: tuple[GateSpec, ...]) -> str:
        texts = {name: (folder / name).read_bytes().decode("utf-8", "replace") for name in files if (folder / name).is_file()}
        texts = {name: as_kept(files[name], text, name) for name, text in texts.items()}
        candidate = Candidate(texts, program_id(context.project.name, texts), context.evaluator, context.seeds())
        done = run_gates(candidate, gates, context.ruleset, artifact_id=candidate.program_id, cycle=context.cycle, run_id=context.run_id)
        if (objection := done.blocked_by) is not None:
            return f"{objection.gate} blocks it: {objection.reason}"
        return _scored(candidate) if gates == GATES else "Nothing speaks against evaluating it."

    cheap = tuple(gate for gate in GATES if gate.name in CHEAP)
    return {"check": lambda folder, arguments: asked(folder, cheap), "evaluate": lambda folder, arguments: asked(folder, GATES)}


def _scored(candidate: Candidate) -> str:
    metrics = shown_metrics(candidate.metrics)
    details = {name: text for evaluation in candidate.evaluations for name, text in evaluation.artifacts.items()}
    lines = [f"score {candidate.score:.9g}", f"metrics {json.dumps(metrics, sort_keys=True)}"]
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in sorted(details.items()))])


def request_of(request: WriterRequest) -> WriterSessionRequest:
    """What the session is told."""
    return WriterSessionRequest(
        project=request.project, instructions=request.instructions, goal=request.goal, files=list(request.parent.files),
        parent=_standing(".", request.parent), best=[_standing(_folder(place), item) for place, item in enumerate(request.best, 1)],
        artifacts=request.artifacts, failures=request.failures, guidance=request.guidance,
    )


def writer_reply(card: ProgramCard, workspace: Workspace) -> WriterReply:
    """The session's files as a reply like any other. Raises Unusable if one was deleted."""
    changed = workspace.changed
    if gone := [name for name, text in changed.items() if text is None]:
        raise Unusable(f"{gone[0]} was deleted: every file that evolves has to be there")
    return WriterReply(idea=card.idea, whole={name: text for name, text in changed.items() if text is not None})


def reference_files(request: WriterRequest) -> dict[str, str]:
    """Path below `reference/` -> text, of the best programs, to be read beside its own."""
    return {f"{_folder(place)}/{name}": text for place, item in enumerate(request.best, 1) for name, text in item.files.items()}


def check_writer(settings: ProgramsSettings, backend: str) -> None:
    """Raises InputError where the setting `writer` cannot be followed."""
    require_model("a writer", WRITER_SESSION, settings.writer, backend)


def _folder(place: int) -> str:
    return f"{REFERENCE}/best-{place}"


def _standing(folder: str, item: Measured) -> Standing:
    return Standing(folder=folder, score=item.score, metrics=item.metrics)
