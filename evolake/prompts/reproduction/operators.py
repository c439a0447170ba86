"""What a reproduction gives: a child or none, and a row for every hunk that was proposed on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evolake.agents import AgentFailure, Agents
from evolake.prompts.model.edits import Hunk, Limits, Outcome
from evolake.prompts.model.library import PrincipleLibrary
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.reproduction.evidence import CHILD, Step
from evolake.prompts.reproduction.memory import SearchMemory
from evolake.prompts.roles.models import PrincipleText

Operator = Literal["mutation", "crossover"]
LINE = "prompts"


@dataclass(frozen=True)
class Editing:
    """What the reproductions of one iteration share. guidance: what people asked for. limits: of the prompts.
    memory: what was tried before and how each prompt did. waves: in how many a model is asked for the edits
    of a batch."""

    agents: Agents
    library: PrincipleLibrary
    cycle: str
    iteration: int
    root_seed: int
    guidance: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    memory: SearchMemory = field(default_factory=SearchMemory)
    waves: int = 1

    @property
    def by_model(self) -> bool:
        """Whether a model edits."""
        return self.agents.backend.name != "operators"


@dataclass(frozen=True)
class Lost:
    """A call that gave no usable reply, or in the step `child` why there is no child."""

    step: Step
    problem_id: str | None
    reason: str


@dataclass(frozen=True)
class Reproduction:
    """What became of one mutation or crossover.

    parent: the prompt that was edited. child: None if none was born, and `note` says why. hunks: (step,
    outcome) in the order of the steps. calls: names of the calls that were made for it, for `Agents.assign`.
    idea: what the child is, in short.
    """

    operator: Operator
    parent: SystemPrompt
    child: SystemPrompt | None
    note: str
    hunks: tuple[tuple[Step, Outcome], ...] = ()
    lost: tuple[Lost, ...] = ()
    calls: tuple[str, ...] = ()
    idea: str = ""

    def rows(self, *, cycle: str, arm: str, iteration: int, backend: str) -> list[dict[str, Any]]:
        """Return rows of the table `edits`."""
        shared = {
            "cycle": cycle,
            "arm": arm,
            "iteration": iteration,
            "operator": self.operator,
            "prompt_id": self.parent.prompt_id,
            "child_id": self.child.prompt_id if self.child else None,
            "backend": backend,
        }
        rows = [
            {
                "step": step,
                "problem_id": outcome.hunk.problem_id,
                "kind": outcome.hunk.kind,
                "targets": list(outcome.hunk.targets),
                "text": outcome.hunk.text,
                "applied": outcome.applied,
                "reason": outcome.reason,
                "principle_id": outcome.principle_id,
            }
            for step, outcome in self.hunks
        ] + [
            {
                "step": lost.step,
                "problem_id": lost.problem_id,
                "kind": "none",
                "targets": [],
                "text": "",
                "applied": False,
                "reason": lost.reason,
                "principle_id": None,
            }
            for lost in (*self.lost, *([] if self.child else [Lost(CHILD, None, self.note)]))
        ]
        return [shared | row | {"number": number} for number, row in enumerate(rows)]


def failed_rows(edits: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of `FAILED_PROPOSALS`: the mutations and crossovers without a child. edits: rows of EDITS
    of a cycle."""
    lost = (row for row in edits if row["step"] == CHILD)
    kept = ("cycle", "iteration", "operator", "prompt_id", "reason")
    return [{"number": number} | {name: row[name] for name in kept} for number, row in enumerate(lost)]


def stillborn(child: SystemPrompt, parent: SystemPrompt, known: Collection[tuple[str, ...]]) -> str:
    """Return why a child is none; "" where it is one. known: texts of all prompts that there are."""
    if child.texts == parent.texts:
        return "no edit was applied"
    if not child.principles:
        return "no principle would be left"
    return "it says the same as a prompt that is there" if child.texts in known else ""


def listed(prompt: SystemPrompt) -> list[PrincipleText]:
    """Return the principles as the requests of roles carry them."""
    return [PrincipleText(id=principle.id, text=principle.text) for principle in prompt.principles]


def lost_calls(step: Step, replies: Sequence[Any], problems: Sequence[str | None]) -> list[Lost]:
    """Return one entry per reply that is an AgentFailure."""
    return [
        Lost(step, problem, f"{reply.status}: {reply.reason}")
        for reply, problem in zip(replies, problems, strict=True)
        if isinstance(reply, AgentFailure)
    ]


def over_limit(hunks: Sequence[Hunk], limit: int, reason: str) -> list[Outcome]:
    """Return outcomes of the hunks beyond a limit."""
    return [Outcome(hunk, False, reason) for hunk in hunks[limit:]]
