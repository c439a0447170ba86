"""The writer as a session of a model: its workspace, and the commands that check and evaluate what it wrote,
all in the jail.

The evaluator is in no file that a session can read. What `evaluate` says is what the gates and the evaluation
of a candidate say, under the seeds of the search; champions meet under other ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session_roles import RunCommand, SessionSpec, Unusable, hold_session, require_model
from evolake.agents.session_tools import Call, CommandReport, Workspace, well_formed
from evolake.programs.evolution.outcome import candidate_rows, objection_of, outcome_text, scratch_row
from evolake.programs.gate_specs import GATES
from evolake.programs.gates import Candidate, reaches
from evolake.programs.model.program_text import as_kept
from evolake.programs.model.project import program_id
from evolake.programs.roles import (
    WRITER_SESSION,
    Briefing,
    Measured,
    ProgramCard,
    RunScript,
    Standing,
    WriterReply,
    WriterRequest,
    WriterSessionRequest,
    listing,
)
from evolake.programs.sandbox.program_runs import printed_text

if TYPE_CHECKING:
    from evolake.programs.evolution.outcome import Context
    from evolake.programs.settings import ProgramsSettings

REFERENCE = "reference"
SHORT_PROGRAM = 8_000
"""Characters of a program that the first message of a session holds; a longer one is read by the tools."""
SESSION, BLOCKED = "session", "blocked"
"""Purposes of rows of MEASURED: versions of a session that pass their gates, and others."""
CHEAP = ("form", "reach")
"""Gates that look at the text alone."""


@dataclass
class SessionWriter:
    """Holds a session for each child that is asked for. call: the jail of the file tools."""

    agents: Agents
    call: Call

    def write(
        self,
        context: Context,
        request: WriterRequest,
        *,
        seed: int,
        attempt: int,
        side: str,
        keep: Callable[[Sequence[Mapping[str, Any]]], None],
    ) -> Reply[WriterReply | AgentFailure]:
        """Return the session's files as a reply like any other; an AgentFailure with a typed status if it was
        not finished. The best version that was evaluated stands in for a worse one at the end, and for none
        if it beats the parent."""
        budget, files = EvaluationBudget(context.own.session_evaluations, keep), request.parent.files
        workspace = Workspace(
            {name: well_formed(text) for name, text in files.items()}, lambda path: path in files
        )
        spec = SessionSpec(
            WRITER_SESSION,
            request_of(request),
            workspace,
            writer_reply,
            commands(context, request, side, budget),
            reference=lambda: reference_files(request),
            keep=lambda rows: budget.count(rows, workspace.files),
        )
        reply = hold_session(self.agents, spec, self.call, seed=seed, attempt=attempt)
        up = 1 if context.project.higher_is_better else -1
        if not budget.scores:
            return reply
        best, score = max(reversed(budget.scores), key=lambda pair: up * pair[1])
        ended = reply.value
        if isinstance(ended, AgentFailure):
            if up * (score - request.parent.score) <= 0:
                return reply
            idea = f"the best of a session that ended {ended.status}: {ended.reason}"
        else:
            last = next((known for texts, known in reversed(budget.scores) if texts == workspace.files), None)
            if last is None or up * (score - last) <= 0:
                return reply
            idea = f"{ended.idea} (the best version that was evaluated, {score:.9g})"
        changed = {name: best[name] for name in files if name in best and best[name] != files[name]}
        return reply.with_value(WriterReply(idea=idea, whole=changed))


@dataclass
class EvaluationBudget:
    """Counts the evaluations of a session, recorded ones included. most: that it may ask for. keep: takes
    their rows of MEASURED. scores: (files, mean score) of each version that passed its gates."""

    most: int
    keep: Callable[[Sequence[Mapping[str, Any]]], None]
    used: int = 0
    scores: list[tuple[Mapping[str, str], float]] = field(default_factory=list)

    def count(self, rows: Sequence[Mapping[str, Any]], files: Mapping[str, str]) -> None:
        """Take the rows of one command, which ran on these files."""
        self.used += bool(rows)
        self.keep(rows)
        scores = [row["score"] for row in rows if row["purpose"] == SESSION and row["score"] is not None]
        if scores and len(scores) == len(rows):
            self.scores.append((dict(files), math.fsum(scores) / len(scores)))


def commands(
    context: Context, request: WriterRequest, side: str, budget: EvaluationBudget
) -> Mapping[str, RunCommand]:
    """Return the commands of a session on these files of the parent. What a program does wrong is reported;
    only our own machinery raises."""
    files = request.parent.files

    def candidate_in(folder: Path) -> Candidate:
        texts = {
            name: (folder / name).read_bytes().decode("utf-8", "replace")
            for name in files
            if (folder / name).is_file()
        }
        texts = {name: as_kept(files[name], text, name) for name, text in texts.items()}
        return Candidate(texts, program_id(context.project.name, texts), context.evaluator, context.seeds())

    def check(folder: Path, arguments: Any) -> str:
        cheap = tuple(gate for gate in GATES if gate.name in CHEAP)
        return objection_of(context, candidate_in(folder), cheap) or "No gate objects before the evaluation."

    def evaluate(folder: Path, arguments: Any) -> str | CommandReport:
        if budget.used >= budget.most:
            return f"All {budget.most} evaluations of this session are used: finish."
        candidate = candidate_in(folder)
        text = outcome_text(context, candidate, request.parent)
        purpose = SESSION if text.startswith("score ") else BLOCKED
        rows = candidate_rows(context, candidate, purpose, f"{side}/{budget.used + 1}")
        return CommandReport(f"{text}\n{_left_text(budget.most - budget.used - bool(rows))}", rows)

    def run(folder: Path, arguments: RunScript) -> str | CommandReport:
        if not context.project.python:
            return "Only next to programs in Python can a script be run."
        if budget.used >= budget.most:
            return f"All {budget.most} evaluations of this session are used: finish."
        if ways := reaches(arguments.script, context.project.given.evaluator.file):
            return f"It was not run: it reaches for what scores the program: {', '.join(sorted(ways)[:3])}."
        candidate = candidate_in(folder)
        outcome = context.evaluator.run_script(candidate.texts, arguments.script)
        row = scratch_row(context, candidate.program_id, outcome, f"{side}/{budget.used + 1}")
        return CommandReport(f"{printed_text(outcome)}\n{_left_text(budget.most - budget.used - 1)}", [row])

    return {"check": check, "evaluate": evaluate, "run": run}


def _left_text(left: int) -> str:
    return f"({left} {'evaluation' if left == 1 else 'evaluations'} left.)"


def request_of(request: WriterRequest) -> WriterSessionRequest:
    """Return what the session is shown."""
    shared = {name: getattr(request, name) for name in Briefing.model_fields}
    text = listing(request.parent.files)
    return WriterSessionRequest(
        **shared,
        files=list(request.parent.files),
        program=text if len(text) <= SHORT_PROGRAM else "",
        parent=_standing("", request.parent),
        best=[_standing(_folder(place), item) for place, item in enumerate(request.best, 1)],
    )


def writer_reply(card: ProgramCard, workspace: Workspace) -> WriterReply:
    """Return the session's files as a reply like any other. Raises Unusable if one was deleted."""
    changed = workspace.changed
    if gone := [name for name, text in changed.items() if text is None]:
        raise Unusable(f"{gone[0]} was deleted: every file that evolves has to be there")
    return WriterReply(
        idea=card.idea, whole={name: text for name, text in changed.items() if text is not None}
    )


def reference_files(request: WriterRequest) -> dict[str, str]:
    """Return path below `reference/` -> text, of the best programs, to be read next to its own."""
    return {
        f"{_folder(place)}/{name}": text
        for place, item in enumerate(request.best, 1)
        for name, text in item.files.items()
    }


def writes_in_sessions(settings: ProgramsSettings, backend: str) -> bool:
    """Return whether children are written in sessions: by default, if a model writes them."""
    return settings.writer == "session" or (settings.writer == "auto" and backend == "model")


def check_writer(settings: ProgramsSettings, backend: str) -> None:
    """Raise InputError if the setting `writer` cannot be followed."""
    require_model("a writer", WRITER_SESSION, settings.writer, backend)


def _folder(place: int) -> str:
    return f"{REFERENCE}/best-{place}"


def _standing(folder: str, item: Measured) -> Standing:
    return Standing(**item.model_dump(exclude={"files", "folder"}), folder=folder)
