"""Crossover: the best prompt of an iteration takes over what others did better on single problems (E-SPL,
Algorithm 2).

The matrix Phi is that of the iteration's own rollouts. A prompt wins a problem where it has the highest value
of all; several may share it, and where all are equal none wins, since that says nothing about their
differences.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evolake.agents import AgentFailure
from evolake.prompts.model.edits import Hunk, apply
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Problem
from evolake.prompts.reproduction.evidence import Evidence
from evolake.prompts.reproduction.memory import idea_of
from evolake.prompts.reproduction.operators import (
    LINE,
    Editing,
    Reproduction,
    listed,
    lost_calls,
    over_limit,
    stillborn,
)
from evolake.prompts.roles.crossing import RECOMBINER
from evolake.prompts.roles.models import BatchProblem, Contender, CrossRequest
from evolake.seeds import child_seed

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
