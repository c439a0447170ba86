"""What a reproduction is made from and what it gives: replies as evidence, what earlier edits came to
(refused ones, duels, why gates blocked a child), the child or none, and a row for every hunk that was
proposed on the way.

Everything here is of the training split: held-out problems are for people only, so what is reported of them
stays a report.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evolake.agents import AgentFailure, Agents
from evolake.agents.attempts import TriedIdea, attempts_table
from evolake.canonical_json import key_of
from evolake.lake import Lake
from evolake.prompts.model.library import PrincipleLibrary
from evolake.prompts.model.prompt import Hunk, Limits, Outcome, SystemPrompt
from evolake.prompts.model.protocol import Problem, Rollout
from evolake.prompts.roles.models import PrincipleText
from evolake.stats.proportions import wilson_interval

Step = Literal["summary", "critique", "local", "global", "recombine", "child"]
CHILD: Step = "child"
"""The step of a row of EDITS that says why there is no child."""


@dataclass(frozen=True)
class Evidence:
    """The rollouts of one prompt on one problem."""

    problem: Problem
    rollouts: tuple[Rollout, ...]

    @property
    def contrasted(self) -> bool:
        """Whether there are better and worse ones: with rewards of 0 and 1, exactly 0 < V < 1."""
        return len({worth(rollout) for rollout in self.rollouts}) > 1


def worth(rollout: Rollout) -> float:
    """Return what a rollout counts in values and ratings. Rejection keeps a failed rollout out of the update;
    it is worth nothing all the same."""
    return 0.0 if rollout.reward is None else rollout.reward


SHORT_ID = 8
NORMAL_95 = 1.96
LONGEST_IDEA = 600
MOST_REFUSED = 8
Row = Mapping[str, Any]


@dataclass(frozen=True)
class SearchMemory:
    """What is known before an edit.

    Attributes:
        prompts: rows of PROMPTS, in order of birth. edits: rows of EDITS of earlier iterations. decisions:
            rows of DECISIONS of earlier cycles.
        objections: prompt -> why a gate blocked it.
    """

    prompts: Sequence[Row] = ()
    edits: Sequence[Row] = ()
    decisions: Sequence[Row] = ()
    objections: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def sha(self) -> str:
        """Hash of all of it, the prompts aside."""
        return key_of([*map(dict, self.edits), *map(dict, self.decisions), dict(self.objections)])

    def followed_by(self, edits: Sequence[Row]) -> SearchMemory:
        """Return this with the edits of a further iteration."""
        return replace(self, edits=[*self.edits, *edits])

    def standing(self, prompt_id: str, evidence: Sequence[Evidence] = (), *, by_problem: bool = True) -> str:
        """Return the rating of a prompt with its interval, its pass rates in this iteration, and its duels;
        without what was not measured."""
        row = next((row for row in self.prompts if row["prompt_id"] == prompt_id), None)
        lines = [] if row is None else [*self._state_lines(row)]
        rates = [
            (item.problem, _passed(item.rollouts), len(item.rollouts)) for item in evidence if item.rollouts
        ]
        if rates:
            right, replies = sum(passed for _, passed, _ in rates), sum(count for _, _, count in rates)
            lines.append(f"this iteration: {rate_text(right, replies)}")
        if rates and by_problem:
            lines.append(
                "by problem: "
                + "; ".join(
                    f"{problem.category or 'problem'} (difficulty {problem.difficulty}) {passed} of {count}"
                    for problem, passed, count in rates
                )
            )
        duels = [item for item in self.decisions if prompt_id in (item["challenger_id"], item["champion_id"])]
        return "\n".join([*lines, *(_duel_text(item, prompt_id) for item in duels[-3:])])

    def tried(self, about: str = "", most: int = 12) -> str:
        """Return the table of children and of refused edits, the newest and those most like `about`; "" for
        none."""
        children = [self._child(row) for row in self.prompts if row["parents"]]
        refused = [item for row in self.edits if not row["applied"] and (item := _refused_idea(row))]
        last = {(item.idea, item.reason): item for item in refused}
        return attempts_table([*list(last.values())[-MOST_REFUSED:], *children], about=about, most=most)

    def _state_lines(self, row: Row) -> list[str]:
        title = ["it is the champion"] if row["state"] == "champion" else []
        if not row["rounds"]:
            return title
        return [
            *title,
            f"rating {row['mu']:.1f} +- {NORMAL_95 * row['sigma']:.1f} (95%) after "
            f"{_times(row['rounds'], 'match', 'matches')}",
        ]

    def _child(self, row: Row) -> TriedIdea:
        by_id = {item["prompt_id"]: item for item in self.prompts}
        parent = by_id.get(row["parents"][0])
        duel = next(
            (item for item in reversed(self.decisions) if item["challenger_id"] == row["prompt_id"]), None
        )
        gain, reason = "", self.objections.get(row["prompt_id"], "")
        if duel is not None:
            gain = f"{duel['difference']:+.3f} correct a reply ({duel['low']:+.3f} to {duel['high']:+.3f})"
            reason = "" if duel["wins"] else "lost its duel with the champion: not beyond the noise"
        elif row["rounds"] and parent is not None and parent["rounds"]:
            half = NORMAL_95 * math.hypot(row["sigma"], parent["sigma"])
            gain = f"rating {row['mu'] - parent['mu']:+.1f} +- {half:.1f}"
        waiting = "tried" if row["rounds"] else "not tried yet"
        outcome = waiting if row["state"] == "candidate" else row["state"]
        return TriedIdea(
            row["cycle"],
            row["prompt_id"][:SHORT_ID],
            row["parents"][0][:SHORT_ID],
            row.get("idea") or row["operator"],
            outcome,
            gain,
            reason,
        )


def rate_text(right: int, replies: int) -> str:
    """Return a pass rate with its interval.

    >>> rate_text(3, 4)
    '3 of 4 replies right, 75% (30 to 95%)'
    """
    interval = wilson_interval(right, replies)
    return (
        f"{right} of {replies} replies right, {interval.estimate:.0%} ({100 * interval.low:.0f} to "
        f"{interval.high:.0%})"
    )


def idea_of(outcomes: Sequence[Outcome], said: str = "") -> str:
    """Return what a child is, in short: what its author said, then the edits that made it."""
    edits = "; ".join(edit_text(outcome.hunk) for outcome in outcomes if outcome.applied)
    text = f"{' '.join(said.split())[: LONGEST_IDEA // 2]} [{edits}]" if said else edits
    return text if len(text) <= LONGEST_IDEA else f"{text[: LONGEST_IDEA - 3]}..."


def edit_text(hunk: Hunk) -> str:
    """Return an edit in one line.

    >>> edit_text(Hunk("modify", ("p2",), "Count once."))
    'modify p2: Count once.'
    """
    return f"{' '.join([hunk.kind, ', '.join(hunk.targets)]).strip()}{f': {hunk.text}' if hunk.text else ''}"


def _refused_idea(row: Row) -> TriedIdea | None:
    """Return an edit that did not apply, or a reproduction without a child; None for a call that was lost."""
    if row["kind"] == "none" and row["step"] != CHILD:
        return None
    idea = (
        row["operator"]
        if row["kind"] == "none"
        else edit_text(Hunk(row["kind"], tuple(row["targets"]), row["text"]))
    )
    outcome = "no child" if row["kind"] == "none" else "refused"
    return TriedIdea(row["cycle"], "", row["prompt_id"][:SHORT_ID], idea, outcome, reason=row["reason"] or "")


def _passed(rollouts: Sequence[Rollout]) -> int:
    return sum(item.correct for item in rollouts)


def _times(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _duel_text(row: Row, prompt_id: str) -> str:
    challenger = row["challenger_id"] == prompt_id
    against = row["champion_id"] if challenger else row["challenger_id"]
    won = row["wins"] if challenger else not row["wins"]
    if won and challenger:
        title = "won"
    elif won:
        title = "kept the title"
    else:
        title = "lost"
    return (
        f"duel in cycle {row['cycle']} with {against[:SHORT_ID]}: {title}; the challenger gained "
        f"{row['reason']}"
    )


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


CYCLES_READ = 5


def memory_of(lake: Lake, cycle: str) -> SearchMemory:
    """Return what the newest cycles before `cycle` say.

    Raises:
        CorruptPart, LakeError: as reading the lake does.
    """
    before = [name for name in lake.seals.cycles(LINE) if name < cycle][-CYCLES_READ:]

    def rows(asset: str) -> list[dict[str, Any]]:
        return [
            row
            for name in before
            if lake.record(LINE, asset, name) is not None
            for row in lake.read(LINE, asset, name).to_dicts()
        ]

    objections = {
        row["prompt_id"]: f"{row['gate']}: {row['reason']}" for row in rows("accepted") if not row["passed"]
    }
    return SearchMemory(edits=rows("edits"), decisions=rows("champion"), objections=objections)
