"""The classical answer of the recombiner: credit for single principles, by the problems that their prompts
won.

What a prompt has over the best one, on the problems where it is ahead, is shared out to the principles that
only it holds of the two: gains that speak for taking one over. A principle of the best prompt is a loss as
far as the prompts without it, each problem by the best of them, do better than those with it. No model is
involved, and a text is only ever taken over unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from evolake.agents.roles import Role
from evolake.prompts.model.library import PrincipleLibrary, library_of
from evolake.prompts.model.prompt import Hunk, tidy
from evolake.prompts.roles.editing import edits_fault, merges_of
from evolake.prompts.roles.models import (
    TRIED,
    Contender,
    CrossEdit,
    CrossReply,
    CrossRequest,
    by_id,
    sections,
)

RELATED = 0.5
"""Share of common words from which on two texts are versions of one principle."""


def recombine(request: CrossRequest, random: np.random.Generator) -> CrossReply:
    """At most `limit` edits: take over, replace or merge by gain, the largest first; then drop the one with
    the largest loss."""
    library = library_of(request.library)
    gains, losses = credits(request)
    edits: list[CrossEdit] = []
    touched: set[str] = set()
    for text in sorted((text for text, gain in gains.items() if gain > 0), key=lambda text: -gains[text]):
        held = [
            principle
            for principle in request.best.principles
            if principle.id not in touched and related(principle.text, text, library)
        ]
        edits.append(
            CrossEdit(kind="modify", targets=[held[0].id], text=text)
            if held
            else CrossEdit(kind="add", text=text)
        )
        touched |= {held[0].id} if held else set()
    worst = max(
        (entry for entry in request.best.principles if entry.id not in touched),
        key=lambda entry: losses.get(entry.text, 0.0),
        default=None,
    )
    if worst is not None and losses.get(worst.text, 0.0) > 0 and len(request.best.principles) > 1:
        edits = [*edits[: request.limit - 1], CrossEdit(kind="drop", targets=[worst.id])]
        touched.add(worst.id)
    for targets, text in merges_of(
        [principle for principle in request.best.principles if principle.id not in touched], library
    )[:1]:
        edits.append(CrossEdit(kind="merge", targets=targets, text=text))
    return CrossReply(
        analysis="Differences of mean reward, shared out to the principles that differ.",
        edits=edits[: request.limit],
    )


def credits(request: CrossRequest) -> tuple[dict[str, float], dict[str, float]]:
    """Return (text of another prompt -> gain, text of the best prompt -> loss), summed over problems. Unknown
    values count for nothing."""
    best = request.best
    mine = {tidy(principle.text) for principle in best.principles}
    held = [
        (other, {tidy(principle.text): None for principle in other.principles}) for other in request.others
    ]
    gains: dict[str, float] = defaultdict(float)
    for other, texts in held:
        pairs = zip(other.values, best.values, strict=True)
        lead = sum(max(0.0, value - ours) for value, ours in pairs if value is not None and ours is not None)
        extra = [text for text in texts if text not in mine]
        for text in extra:
            gains[text] += lead / len(extra)
    losses = {}
    for text in mine:
        with_it = [best.values, *(other.values for other, texts in held if text in texts)]
        without = [other.values for other, texts in held if text not in texts]
        losses[text] = (
            sum(
                there - here
                for here, there in zip(_highest(with_it), _highest(without), strict=True)
                if here is not None and there is not None
            )
            if without
            else 0.0
        )
    return dict(gains), losses


def _highest(rows: list[list[float | None]]) -> list[float | None]:
    """Return the highest known value of each problem."""
    return [
        max((value for value in column if value is not None), default=None)
        for column in zip(*rows, strict=True)
    ]


def related(item: str, other: str, library: PrincipleLibrary) -> bool:
    """Return whether two texts are versions of one principle: of one entry of the library, or with most words
    in common."""
    ours, theirs = set(library.names_of(item)), set(library.names_of(other))
    if ours and theirs:
        return bool(ours & theirs)
    first, second = (
        set(tidy(text).casefold().replace(".", "").replace(",", "").split()) for text in (item, other)
    )
    return len(first & second) >= RELATED * len(first | second)


def _contender(item: Contender) -> dict[str, Any]:
    shown = {"principles": by_id(item.principles), "won": item.won, "values": item.values} | (
        {"standing": item.standing} if item.standing else {}
    )
    return shown if item.name == "best" else {"name": item.name} | shown


def _recombiner_values(request: CrossRequest) -> dict[str, Any]:
    return {
        "best": _contender(request.best),
        "others": [_contender(item) for item in request.others],
        "problems": [item.model_dump() for item in request.problems],
        "limit": request.limit,
        "context": sections(tried=(TRIED, request.tried), guidance=request.guidance),
    }


def _recombiner_fault(request: CrossRequest, reply: CrossReply) -> str:
    hunks = [Hunk(edit.kind, tuple(edit.targets), edit.text) for edit in reply.edits[: request.limit]]
    return edits_fault(request.best.principles, hunks, problems=[item.text for item in request.problems])


RECOMBINER = Role(
    "prompts_recombiner",
    CrossRequest,
    CrossReply,
    recombine,
    values=_recombiner_values,
    fault=_recombiner_fault,
)
"""Edits of the best prompt by what others do better: crossover."""
