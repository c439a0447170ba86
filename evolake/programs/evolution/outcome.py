"""What an evaluation of a program gave, in words for its author and as rows of MEASURED; and the `Context`
that the generations of one project share in a cycle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from evolake.agents import AgentFailure, Agents, Reply
from evolake.gates import GateSpec, Ruleset, run_gates
from evolake.lake import BlobStore
from evolake.programs.evolution.population import Row
from evolake.programs.gate_specs import GATES
from evolake.programs.gates import Candidate
from evolake.programs.model.project import Project
from evolake.programs.roles import Measured, WriterReply, WriterRequest
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, host, score_of, shown_metrics
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import child_seed

if TYPE_CHECKING:
    from evolake.jail import NativeOutcome


SCRATCH = "scratch"
"""Purpose of a row of MEASURED that is a script of an author and no evaluation of a program."""
POLISHED = "polish"
"""Purpose of a row of MEASURED that is the search for a program's numbers."""


def scratch_row(context: Context, program: str, outcome: NativeOutcome, side: str) -> Row:
    """Return the row of MEASURED of a scratch run: it costs as an evaluation does, and has no score."""
    ran = Evaluation(
        outcome.status,
        outcome.reason,
        cpu_s=outcome.cpu_s,
        wall_s=outcome.wall_s,
        peak_mb=outcome.peak_mb,
        jail=outcome.jail,
    )
    [row] = measured_rows(context.project, program, [ran], context.cycle, SCRATCH, side)
    return row | {"score": None}


def polish_row(context: Context, program: str, state: Mapping[str, Any], place: int) -> Row:
    """Return the row of MEASURED of a polish: what it cost, without a score. place: of the child in its
    cycle."""
    spent = Evaluation("ok", cpu_s=state["cpu_s"], artifacts={"evaluations": str(state["evaluations"])})
    [row] = measured_rows(context.project, program, [spent], context.cycle, POLISHED, str(place))
    return row | {"score": None}


def objection_of(context: Context, candidate: Candidate, gates: tuple[GateSpec, ...] = GATES) -> str:
    """Return which gate blocks a program and why; "" if none does."""
    name = candidate.program_id
    done = run_gates(
        candidate, gates, context.ruleset, artifact_id=name, cycle=context.cycle, run_id=context.run_id
    )
    return (
        f"{done.blocked_by.gate} blocks it: {done.blocked_by.reason}" if done.blocked_by is not None else ""
    )


def outcome_text(context: Context, candidate: Candidate, parent: Measured) -> str:
    """Evaluate a program if its gates let it; return score and metrics, or the gate that blocks it, and what
    it used of the limits."""
    lines = (
        [objection]
        if (objection := objection_of(context, candidate))
        else _scored(context.project, candidate, parent)
    )
    done = candidate.evaluations
    if done:
        limits = context.evaluator.limits
        most = [max(getattr(item, name) for item in done) for name in ("cpu_s", "wall_s", "peak_mb")]
        lines.append(
            f"used {most[0]:.2f} of {limits.cpu_s:g} s of processor time, {most[1]:.2f} of "
            f"{limits.wall_s:g} s on the clock, {most[2]:.0f} of {limits.memory_mb} MiB"
        )
    if done and (stages := max(item.stages for item in done)) > 1:
        lines.append(f"passed {min(item.stage for item in done)} of {stages} stages of the evaluator")
    details = {name: text for evaluation in done for name, text in evaluation.artifacts.items()}
    return "\n".join([*lines, *(f"{name}: {text}" for name, text in sorted(details.items()))])


def _scored(project: Project, candidate: Candidate, parent: Measured) -> list[str]:
    assert candidate.score is not None
    gain = (candidate.score - parent.score) * (1 if project.higher_is_better else -1)
    if gain > 0:
        compared = f"better than the parent by {gain:.4g}"
    elif gain:
        compared = f"worse than the parent by {-gain:.4g}"
    else:
        compared = "as the parent"
    metrics = json.dumps(shown_metrics(candidate.metrics), sort_keys=True)
    return [f"score {candidate.score:.9g} ({compared})", f"metrics {metrics}"]


def candidate_rows(context: Context, candidate: Candidate, purpose: str, side: str) -> list[Row]:
    """Return rows of MEASURED of a candidate's evaluations; none if a gate blocked it before."""
    return measured_rows(
        context.project, candidate.program_id, candidate.evaluations, context.cycle, purpose, side
    )


def measured_rows(
    project: Project,
    program: str,
    evaluations: Sequence[Evaluation],
    cycle: str,
    purpose: str = "search",
    side: str = "",
) -> list[Row]:
    """Return rows of MEASURED."""
    return [
        {
            "cycle": cycle,
            "project": project.name,
            "program_id": program,
            "purpose": purpose,
            "side": side,
            "seed": evaluation.seed,
            "status": evaluation.status,
            "score": score_of(project, evaluation) if evaluation.ok else None,
            "metrics": json.dumps(dict(evaluation.metrics), sort_keys=True),
            "artifacts": json.dumps(
                dict(evaluation.artifacts) | ({"reason": evaluation.reason} if evaluation.reason else {}),
                sort_keys=True,
            ),
            "stage": evaluation.stage,
            "cpu_s": evaluation.cpu_s,
            "wall_s": evaluation.wall_s,
            "peak_mb": evaluation.peak_mb,
            "protected": project.protected,
            "host": host(),
        }
        for evaluation in evaluations
    ]


LINE = "programs"


class SessionWriting(Protocol):
    """Writes children in sessions: `writer_session.SessionWriter`."""

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
        """Return what the session wrote, or why it ended without a program. side: of its evaluations' rows of
        MEASURED, which `keep` takes."""
        ...


@dataclass(frozen=True)
class WorkNotes:
    """What long work on a project has found so far, so that a run that is killed in it continues with that.

    held: (place, key of all that it depends on) -> what is known. Places are held-out seeds of a contest,
    children of a cycle that are polished, or dumb searches.
    note: keep what is known at a place now; what was kept there before goes.
    """

    held: Mapping[tuple[int, str], Any] = field(default_factory=dict[tuple[int, str], Any])
    note: Callable[[int, str, Any], None] = lambda place, key, known: None


@dataclass(frozen=True)
class Context:
    """What the generations of a project share. session: who writes in sessions; None: the writer is asked
    once for each child, and once more if it may revise. waves: of requests to a model in one generation.
    turns: that a session may take, for its prompt. polishes: parts of polishes that are done."""

    evaluator: Evaluator
    own: ProgramsSettings
    agents: Agents
    blobs: BlobStore
    ruleset: Ruleset
    cycle: str
    run_id: str
    root_seed: int
    workers: int
    guidance: Sequence[str] = ()
    session: SessionWriting | None = None
    waves: int = 2
    turns: int = 0
    polishes: WorkNotes = field(default_factory=WorkNotes)

    @property
    def project(self) -> Project:
        """The project."""
        return self.evaluator.project

    def seeds(self) -> list[int]:
        """Of a candidate's evaluations: the same for all of a project, so that scores can be compared."""
        return search_seeds(self.project, self.own, self.root_seed)


def search_seeds(project: Project, own: ProgramsSettings, root_seed: int) -> list[int]:
    """Return seeds of the evaluations that candidates are ranked by."""
    return [
        child_seed(root_seed, LINE, "search", project.name, place)
        for place in range(project.given.evaluator.repeats or own.repeats)
    ]
