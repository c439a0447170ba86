"""What a search of prompts knows when it edits one: how each prompt did, and what was tried before and came
to nothing.

Everything here is of the training split: held-out problems are for people only, so what is reported of them
stays a report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolake.agents.attempts import TriedIdea, attempts_table
from evolake.canonical_json import key_of
from evolake.prompts.model.edits import Hunk, Outcome
from evolake.prompts.model.protocol import Rollout
from evolake.prompts.reproduction.evidence import CHILD, Evidence
from evolake.stats.proportions import wilson_interval

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
