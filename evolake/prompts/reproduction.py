"""Make a child of a system prompt, by mutation or crossover.

Mutation: the best prompt of an iteration is edited by what its own rollouts teach (E-SPL, section 3.2 and
appendices A.1 to A.5).

    1 summary   every rollout on a problem with both success and failure      prompts_summarizer
                (a model summarises long replies only: short ones are compared as they are)
    2 critique  per problem, what sets them apart                             prompts_critic
    3 local     per problem, at most K_ops edits: add, modify                 prompts_editor
    4 global    over the batch, one plan: modify, merge                       prompts_consolidator

Additions are applied before the plan is asked for, so that the plan can refine and merge them. A proposed
modify is kept unless the plan names its principle. Then everything is one diff, applied strictly.

Crossover: the best prompt takes over what others did better on single problems (Algorithm 2), by the matrix
Phi of the iteration's own rollouts. A prompt wins a problem if it has the highest value of all; several may
share it, and if all are equal none wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.agents import AgentFailure
from evolake.agents.attempts import SiblingNote, waves
from evolake.agents.roles import Role
from evolake.prompts.edit_memory import (
    LINE,
    Editing,
    Evidence,
    Lost,
    Reproduction,
    Step,
    edit_text,
    idea_of,
    listed,
    lost_calls,
    over_limit,
    stillborn,
    worth,
)
from evolake.prompts.model.prompt import Applied, Hunk, Outcome, SystemPrompt, apply, tidy
from evolake.prompts.model.protocol import Problem, Rollout
from evolake.prompts.roles.editing import CONSOLIDATOR, EDITOR, GLOBAL_KINDS, LOCAL_KINDS, RECOMBINER
from evolake.prompts.roles.models import (
    BatchProblem,
    Contender,
    CritiqueReply,
    CritiqueRequest,
    CrossRequest,
    GlobalReply,
    GlobalRequest,
    LocalReply,
    LocalRequest,
    Suggestion,
    SummaryReply,
    SummaryRequest,
    Trajectory,
)
from evolake.prompts.roles.reflection import CRITIC, SUMMARIZER
from evolake.seeds import child_seed

SHORT_REPLY = 120
"""Words up to which a model that compares replies is shown them whole: a summary would be as long, and cost a
call."""
LONGEST_REASON = 200
"""Characters of why a reply was not scored."""
MOST_TRIED = 5
"""Lines of the table of attempts in each of a batch's requests."""


def mutate(
    editing: Editing,
    prompt: SystemPrompt,
    evidence: Sequence[Evidence],
    *,
    edits_per_problem: int = 2,
    known: Collection[tuple[str, ...]] = (),
) -> Reproduction:
    """Return a child of `prompt`, or why there is none.

    Args:
        evidence: the prompt's rollouts, one entry per problem; those without contrast are left aside.
        edits_per_problem: K_ops. known: texts of all prompts that there are.

    Raises:
        AgentUnavailable, BudgetExhausted: as the agents do.
    """
    work, limits = _Mutation(editing, prompt), editing.limits
    used = [item for item in evidence if item.contrasted]
    if not used:
        return Reproduction("mutation", prompt, None, "no problem had both success and failure")
    critiques = work.criticise(used, work.summarise(used))
    standing = editing.memory.standing(prompt.prompt_id, evidence) if editing.by_model else ""
    proposed, beyond = work.propose(used, critiques, edits_per_problem, standing)
    adds, modifies = (
        [place for place, hunk in enumerate(proposed) if hunk.kind == kind] for kind in LOCAL_KINDS
    )
    grown = apply(prompt, [proposed[place] for place in adds], limits, kinds=LOCAL_KINDS)
    plan = (
        work.consolidate(prompt, grown, [proposed[place] for place in modifies], standing) if proposed else []
    )
    planned = apply(grown.prompt, plan, limits, kinds=GLOBAL_KINDS)
    fitting = [outcome.hunk for outcome in planned.outcomes if outcome.applied]
    in_plan = {target for hunk in fitting for target in hunk.targets}
    not_in_plan = [place for place in modifies if not in_plan & set(proposed[place].targets)]
    final = apply(grown.prompt, [*fitting, *(proposed[place] for place in not_in_plan)], limits)
    last = iter(final.outcomes)
    global_ = [next(last) if outcome.applied else outcome for outcome in planned.outcomes]
    known_local = dict(zip(adds, grown.outcomes, strict=True)) | dict(zip(not_in_plan, last, strict=True))
    local = [
        known_local.get(place) or Outcome(hunk, False, "the plan settles this principle")
        for place, hunk in enumerate(proposed)
    ]
    steps: list[Step] = [*["local" for _ in (*local, *beyond)], *["global" for _ in plan]]
    hunks = zip(steps, (*local, *beyond, *global_), strict=True)
    note = stillborn(final.prompt, prompt, known)
    idea = idea_of([*grown.outcomes, *final.outcomes])
    return Reproduction(
        "mutation",
        prompt,
        None if note else final.prompt,
        note,
        tuple(hunks),
        tuple(work.lost),
        tuple(work.calls),
        idea,
    )


@dataclass
class _Mutation:
    """The four steps, with the calls that were lost and the names of all calls."""

    editing: Editing
    prompt: SystemPrompt

    def __post_init__(self) -> None:
        self.lost: list[Lost] = []
        self.calls: list[str] = []

    def summarise(self, evidence: Sequence[Evidence]) -> list[list[Trajectory]]:
        """Return the trajectories of each problem; rollouts that say the same are asked about once, and short
        ones not at all if a model compares them.
        """
        groups = [_distinct(item.rollouts) for item in evidence]
        asked = [
            (item, rollout)
            for item, group in zip(evidence, groups, strict=True)
            for rollout, _ in group
            if not self._as_it_is(rollout)
        ]
        requests = [
            SummaryRequest(
                principles=listed(self.prompt),
                problem=item.problem.text,
                answer=item.problem.answer,
                reply=rollout.reply,
                correct=rollout.correct,
                answered=rollout.formatted,
                truncated=rollout.truncated,
            )
            for item, rollout in asked
        ]
        replies = iter(
            self._ask("summary", SUMMARIZER, requests, [item.problem.problem_id for item, _ in asked])
        )
        result = []
        for item, group in zip(evidence, groups, strict=True):
            best = max(worth(other) for other in item.rollouts)
            shown = [
                (rollout, count, None if self._as_it_is(rollout) else next(replies))
                for rollout, count in group
            ]
            result.append(
                [
                    trajectory_of(rollout, count, said, success=worth(rollout) == best)
                    for rollout, count, said in shown
                    if not isinstance(said, AgentFailure)
                ]
            )
        return result

    def _as_it_is(self, rollout: Rollout) -> bool:
        """Return whether the reply itself is compared, not its summary."""
        return self.editing.by_model and len(rollout.reply.split()) <= SHORT_REPLY

    def criticise(
        self, evidence: Sequence[Evidence], trajectories: Sequence[list[Trajectory]]
    ) -> list[CritiqueReply | None]:
        """One critique per problem; None if there is no longer a contrast, or no reply."""
        open_ = [
            place for place, result in enumerate(trajectories) if len({item.success for item in result}) == 2
        ]
        requests = [
            CritiqueRequest(
                principles=listed(self.prompt),
                problem=evidence[place].problem.text,
                answer=evidence[place].problem.answer,
                trajectories=trajectories[place],
                library=self.editing.library.to_rows(),
            )
            for place in open_
        ]
        replies = self._ask(
            "critique", CRITIC, requests, [evidence[place].problem.problem_id for place in open_]
        )
        return _placed(dict(zip(open_, replies, strict=True)), len(evidence))

    def propose(
        self,
        evidence: Sequence[Evidence],
        critiques: Sequence[CritiqueReply | None],
        limit: int,
        standing: str,
    ) -> tuple[list[Hunk], list[Outcome]]:
        """Return the local hunks of all problems, and those beyond the limit of a problem. A model is asked
        in waves: those of a later one know what the ones before proposed."""
        open_ = [
            (item.problem, critique)
            for item, critique in zip(evidence, critiques, strict=True)
            if critique is not None
        ]
        hunks: list[Hunk] = []
        beyond: list[Outcome] = []
        for wave in waves(len(open_), self.editing.waves if self.editing.by_model else 1):
            requests = [
                LocalRequest(
                    principles=listed(self.prompt),
                    problem=problem.text,
                    critique=critique,
                    limit=limit,
                    guidance=list(self.editing.guidance),
                    library=self.editing.library.to_rows(),
                    **self._context(place, len(open_), standing, critique, hunks),
                )
                for place in wave
                for problem, critique in [open_[place]]
            ]
            problems = [open_[place][0].problem_id for place in wave]
            replies = self._ask("local", EDITOR, requests, problems, first=wave.start)
            for problem_id, reply in zip(problems, replies, strict=True):
                if isinstance(reply, LocalReply):
                    given = [
                        Hunk(
                            edit.kind, (edit.target,) if edit.target else (), edit.text, edit.old, problem_id
                        )
                        for edit in reply.edits
                    ]
                    hunks += given[:limit]
                    beyond += over_limit(given, limit, f"one problem may propose {limit} edits")
        return hunks, beyond

    def _context(
        self, place: int, count: int, standing: str, critique: CritiqueReply, hunks: Sequence[Hunk]
    ) -> dict[str, str]:
        """Return what a model is sent in addition to the problem; operators read none of it."""
        if not self.editing.by_model:
            return {}
        about = " ".join([*critique.failures, *critique.guidance_needed])
        note = SiblingNote(number=place + 1, count=count, siblings=[edit_text(hunk) for hunk in hunks])
        return {
            "standing": standing,
            "tried": self.editing.memory.tried(about, MOST_TRIED),
            "siblings": note.text() if hunks else "",
        }

    def consolidate(
        self, prompt: SystemPrompt, grown: Applied, modifies: Sequence[Hunk], standing: str
    ) -> list[Hunk]:
        """Return the hunks of the plan; none if the call gave no reply: the local edits are then used as they
        are."""
        counts = Counter((hunk.targets[0], tidy(hunk.text)) for hunk in modifies if len(hunk.targets) == 1)
        request = GlobalRequest(
            principles=listed(grown.prompt),
            new=[item for item in grown.prompt.ids if item not in prompt.ids],
            guidance=list(self.editing.guidance),
            suggestions=[
                Suggestion(id=target, text=text, problems=count)
                for (target, text), count in counts.items()
                if target in prompt.ids
            ],
            standing=standing,
            library=self.editing.library.to_rows(),
            refused=[f"{edit_text(item.hunk)} ({item.reason})" for item in grown.outcomes if not item.applied]
            if self.editing.by_model
            else [],
        )
        (reply,) = self._ask("global", CONSOLIDATOR, [request], [None])
        return (
            [Hunk(edit.kind, tuple(edit.targets), edit.text) for edit in reply.edits]
            if isinstance(reply, GlobalReply)
            else []
        )

    def _ask(
        self,
        step: Step,
        role: Role[Any, Any],
        requests: Sequence[Any],
        problems: Sequence[str | None],
        *,
        first: int = 0,
    ) -> list[Any]:
        """Return the replies. first: place of the first request among those of the step."""
        own = self.editing
        seeds = [
            child_seed(own.root_seed, LINE, own.cycle, f"{own.iteration}/{step}", first + place)
            for place in range(len(requests))
        ]
        replied = own.agents.call_many(role, requests, seeds=seeds)
        replies = [reply.value for reply in replied]
        self.lost += lost_calls(step, replies, problems)
        self.calls += [reply.call_id for reply in replied]
        return replies


def _distinct(rollouts: Sequence[Rollout]) -> list[tuple[Rollout, int]]:
    """Rollouts with another reply or outcome than those before, each with how many are like it."""
    counts = Counter((rollout.reply, rollout.truncated, worth(rollout)) for rollout in rollouts)
    first = {(rollout.reply, rollout.truncated, worth(rollout)): rollout for rollout in reversed(rollouts)}
    return [(first[key], count) for key, count in counts.items()]


def trajectory_of(rollout: Rollout, count: int, summary: SummaryReply | None, *, success: bool) -> Trajectory:
    """Return a rollout as the critic is shown it. count: rollouts like it. summary: None if the reply itself
    is shown."""
    shared = {
        "success": success,
        "count": count,
        "words": len(rollout.reply.split()),
        "unscored": (rollout.unverified or "")[:LONGEST_REASON],
        "cut": rollout.truncated,
    }
    return Trajectory.model_validate(
        shared | ({"reply": rollout.reply} if summary is None else summary.model_dump())
    )


def _placed(result: Mapping[int, CritiqueReply | AgentFailure], count: int) -> list[CritiqueReply | None]:
    replies = [result.get(place) for place in range(count)]
    return [reply if isinstance(reply, CritiqueReply) else None for reply in replies]


EDITS = 4
"""Edits of one crossover."""
Matrix = Sequence[Sequence[float | None]]
"""(M, B): mean reward of prompt i on problem b; None where it is not known."""


def wins(phi: Matrix) -> list[list[int]]:
    """Return per prompt the columns that it won, in order."""
    won: list[list[int]] = [[] for _ in phi]
    for place, column in enumerate(zip(*phi, strict=True)):
        known = [value for value in column if value is not None]
        if len(known) < 2 or max(known) == min(known):
            continue
        for row, value in enumerate(column):
            if value == max(known):
                won[row].append(place)
    return won


def cross(
    editing: Editing,
    prompts: Sequence[SystemPrompt],
    phi: Matrix,
    problems: Sequence[Problem],
    *,
    best: int,
    known: Collection[tuple[str, ...]] = (),
    evidence: Sequence[Sequence[Evidence]] = (),
) -> Reproduction:
    """Return a child of the prompts of one iteration by edits of the best one, or why there is none.

    Args:
        prompts: those of the iteration, no prompt twice. phi: (M, B) in their order and that of `problems`.
            best: place of the overall best one.
        known: texts of all prompts that there are. evidence: the rollouts of each prompt, for what a model is
            sent of it.

    Raises:
        AgentUnavailable, BudgetExhausted: as the agents do.
    """
    if len(prompts) < 2:
        return Reproduction("crossover", prompts[best], None, "one prompt alone has no other to cross with")
    shown = evidence if editing.by_model else ()
    contenders = [
        Contender(
            name="best" if row == best else f"other {row}",
            principles=listed(prompt),
            won=[place + 1 for place in won],
            values=list(phi[row]),
            standing=editing.memory.standing(prompt.prompt_id, shown[row], by_problem=False) if shown else "",
        )
        for row, (prompt, won) in enumerate(zip(prompts, wins(phi), strict=True))
    ]
    request = CrossRequest(
        best=contenders[best],
        others=[contender for row, contender in enumerate(contenders) if row != best],
        limit=EDITS,
        guidance=list(editing.guidance),
        problems=[
            BatchProblem(number=place + 1, text=item.text, category=item.category, answer=item.answer)
            for place, item in enumerate(problems)
        ],
        library=editing.library.to_rows(),
        tried=editing.memory.tried() if editing.by_model else "",
    )
    seed = child_seed(editing.root_seed, LINE, editing.cycle, f"{editing.iteration}/recombine")
    replied = editing.agents.call(RECOMBINER, request, seed=seed)
    reply = replied.value
    if isinstance(reply, AgentFailure):
        lost = lost_calls("recombine", [reply], [None])
        return Reproduction(
            "crossover", prompts[best], None, lost[0].reason, lost=tuple(lost), calls=(replied.call_id,)
        )
    hunks = [Hunk(edit.kind, tuple(edit.targets), edit.text) for edit in reply.edits]
    result = apply(prompts[best], hunks[:EDITS], editing.limits)
    outcomes = [*result.outcomes, *over_limit(hunks, EDITS, f"a crossover may propose {EDITS} edits")]
    note = stillborn(result.prompt, prompts[best], known)
    return Reproduction(
        "crossover",
        prompts[best],
        None if note else result.prompt,
        note,
        tuple(("recombine", outcome) for outcome in outcomes),
        calls=(replied.call_id,),
        idea=idea_of(outcomes, reply.analysis if editing.by_model else ""),
    )
