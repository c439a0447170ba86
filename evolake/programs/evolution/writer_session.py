"""The writer as a session of a model: its workspace, and the commands that check and evaluate what it wrote, all in the jail.

The evaluator is in no file that a session can read. What `evaluate` says is what the gates and the evaluation of a candidate say, under the seeds of
the search; champions meet under other ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session.by_model import require_model
from evolake.agents.session.tools import Bench, Call, Command
from evolake.agents.session.workspace import Workspace
from evolake.gates import GateSpec, run_gates
from evolake.programs.gates.collecting import Candidate
from evolake.programs.gates.specs import GATES
from evolake.programs.model.blocks import as_kept
from evolake.programs.model.project import program_id
from evolake.programs.roles.writer import Measured, WriterReply, WriterRequest
from evolake.programs.roles.writer_session import COMMANDS, WRITER_SESSION, ProgramCard, Standing, WriterSessionRequest
from evolake.scratch import Scratch

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
        with Scratch("program") as place:
            folder = Path(place) / "start"
            for name, text in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(text.encode("utf-8", "replace"))
            workspace = Workspace.of_folder(folder, files, lambda path: path in files)
            bench = Bench(workspace, folder, ProgramCard, self.call, commands(context, files), reference=lambda: reference_files(request))
            ended = self.agents.session(WRITER_SESSION, request_of(request), bench, seed=seed, attempt=attempt)
        card = ended.value
        if not isinstance(card, ProgramCard):
            assert isinstance(card, AgentFailure)
            return ended.with_value(card)
        gone = [name for name, text in workspace.changed.items() if text is None]
        if gone:
            why = f"{gone[0]} was deleted: every file that evolves has to be there"
            return ended.with_value(AgentFailure(WRITER_SESSION.name, "invalid", why, 1))
        return ended.with_value(WriterReply(idea=card.idea, whole={name: text for name, text in workspace.changed.items() if text is not None}))


def commands(context: Context, files: Mapping[str, str]) -> Mapping[str, Command]:
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
    runs: dict[str, Callable[[Path, Any], str]] = {
        "check": lambda folder, arguments: asked(folder, cheap), "evaluate": lambda folder, arguments: asked(folder, GATES),
    }
    return {name: Command(name, description, arguments, runs[name]) for name, description, arguments in COMMANDS}


def _scored(candidate: Candidate) -> str:
    metrics = candidate.metrics
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


def reference_files(request: WriterRequest) -> dict[str, str]:
    """Path below `reference/` -> text, of the best programs, to be read beside its own."""
    return {f"{_folder(place)}/{name}": text for place, item in enumerate(request.best, 1) for name, text in item.files.items()}


def check_writer(settings: ProgramsSettings, backend: str) -> None:
    """Raises InputError where the setting `writer` cannot be followed."""
    require_model("a writer", "EVOLAKE_PROGRAMS__WRITER", settings.writer, backend)


def _folder(place: int) -> str:
    return f"{REFERENCE}/best-{place}"


def _standing(folder: str, item: Measured) -> Standing:
    return Standing(folder=folder, score=item.score, metrics=item.metrics)
