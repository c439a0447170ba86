"""The classical answers of the local editor, the consolidator and the recombiner, and why the edits of a
reply cannot be used.

The editor takes entries of the principle library by what went wrong. A symptom that no principle answers
brings one that does; a symptom that a principle answers without effect makes it stricter. If the library has
nothing more to say about a problem, an entry that is not in the prompt is tried: without that a search by
rules stops.

Of a reply one edit that applies is enough: the others are left out with their reasons, as rows, and later
requests show them. Else the model is sent the reasons before it may answer once more.

The recombiner gives credit to single principles. What a prompt has over the best one, on the problems where
it is ahead, is shared out to the principles that only it holds of the two: gains that speak for taking one
over. A principle of the best prompt is a loss as far as the prompts without it, each problem by the best of
them, do better than those with it. A text is only ever taken over unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from evolake.agents.roles import Role
from evolake.prompts.model.library import PrincipleLibrary, library_of
from evolake.prompts.model.prompt import Hunk, Kind, Limits, Principle, SystemPrompt, apply, tidy
from evolake.prompts.roles.models import (
    SIBLINGS,
    STANDING,
    TRIED,
    Contender,
    CrossEdit,
    CrossReply,
    CrossRequest,
    GlobalEdit,
    GlobalReply,
    GlobalRequest,
    LocalEdit,
    LocalReply,
    LocalRequest,
    PrincipleText,
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


def edits_fault(
    principles: Sequence[PrincipleText],
    hunks: Sequence[Hunk],
    *,
    problems: Sequence[str] = (),
    kinds: Sequence[Kind] | None = None,
) -> str:
    """Return why none of the edits applies, with what the principles read now; "" if one applies or there is
    none.

    Args:
        principles: of the prompt that is edited. problems: statements that no principle may copy. kinds: as
            in `apply`.
    """
    prompt = SystemPrompt(tuple(Principle(item.id, item.text) for item in principles))
    outcomes = apply(prompt, hunks, Limits(problems=tuple(problems)), kinds=kinds).outcomes
    if not outcomes or any(outcome.applied for outcome in outcomes):
        return ""
    texts = {item.id: item.text for item in principles}
    reasons = []
    for number, outcome in enumerate(outcomes, 1):
        quoted = [
            f"{target} reads: {texts[target]}"
            for target in outcome.hunk.targets
            if outcome.hunk.old and target in texts
        ]
        named = " ".join([outcome.hunk.kind, *outcome.hunk.targets])
        reasons.append(f"edit {number} ({named}): {'; '.join([outcome.reason, *quoted])}")
    return f"no edit applies. {'. '.join(reasons)}. The ids are {', '.join(texts) or 'none'}"


LOCAL_KINDS: tuple[Kind, ...] = ("add", "modify")
GLOBAL_KINDS: tuple[Kind, ...] = ("modify", "merge")
MERGE_FROM = 4
"""Principles in a prompt from which on two of them are merged."""


def edit_locally(request: LocalRequest, random: np.random.Generator) -> LocalReply:
    """At most `limit` edits, for the most frequent symptoms first."""
    library = library_of(request.library)
    edits: list[LocalEdit] = []
    present = {name for principle in request.principles for name in library.names_of(principle.text)}
    for symptom in request.critique.failures:
        if len(edits) >= request.limit:
            break
        edit = _answer(symptom, request, library, present, random)
        if edit is not None and all(edit.target != other.target or not edit.target for other in edits):
            edits.append(edit)
            present |= set(library.names_of(edit.text))
    if not edits and (unused := [entry for entry in library.entries if entry.name not in present]):
        edits.append(LocalEdit(kind="add", text=unused[int(random.integers(len(unused)))].versions[0]))
    return LocalReply(edits=edits)


def consolidate(request: GlobalRequest, random: np.random.Generator) -> GlobalReply:
    """Of several suggestions for a principle the one that most problems made; then, in a prompt that has
    grown, one merge that the library knows."""
    library = library_of(request.library)
    asked = defaultdict(list)
    for suggestion in request.suggestions:
        asked[suggestion.id].append(suggestion)
    edits = [
        GlobalEdit(kind="modify", targets=[target], text=max(given, key=lambda item: item.problems).text)
        for target, given in asked.items()
        if len(given) > 1
    ]
    free = [principle for principle in request.principles if principle.id not in asked]
    if len(request.principles) >= MERGE_FROM and (options := merges_of(free, library)):
        targets, text = options[int(random.integers(len(options)))]
        edits.append(GlobalEdit(kind="merge", targets=targets, text=text))
    return GlobalReply(edits=edits)


def merges_of(principles: list[PrincipleText], library: PrincipleLibrary) -> list[tuple[list[str], str]]:
    """Return pairs of principles that the library has one text for, with that text."""
    holders = {
        names[0]: principle.id
        for principle in principles
        if len(names := library.names_of(principle.text)) == 1
    }
    return [
        ([holders[name] for name in merge.of], merge.text)
        for merge in library.merges
        if set(merge.of) <= set(holders)
    ]


def _answer(
    symptom: str,
    request: LocalRequest,
    library: PrincipleLibrary,
    present: set[str],
    random: np.random.Generator,
) -> LocalEdit | None:
    """Return a stricter version of what answers the symptom already, or a new principle that does; None where
    neither is left."""
    entries = library.answering(symptom)
    if stricter := [
        (principle, text)
        for principle in request.principles
        if (text := library.stricter(principle.text))
        and set(library.names_of(principle.text)) & {entry.name for entry in entries}
    ]:
        item, text = stricter[int(random.integers(len(stricter)))]
        return LocalEdit(kind="modify", target=item.id, old=item.text, text=text)
    missing = [entry for entry in entries if entry.name not in present]
    return (
        LocalEdit(kind="add", text=missing[int(random.integers(len(missing)))].versions[0])
        if missing
        else None
    )


def _editor_values(request: LocalRequest) -> dict[str, Any]:
    return {
        "principles": by_id(request.principles),
        "problem": request.problem,
        "critique": request.critique.model_dump(exclude_defaults=True) or "nothing",
        "limit": request.limit,
        "context": sections(
            standing=(STANDING, request.standing),
            tried=(TRIED, request.tried),
            siblings=(SIBLINGS, request.siblings),
            guidance=request.guidance,
        ),
    }


def _editor_fault(request: LocalRequest, reply: LocalReply) -> str:
    hunks = [
        Hunk(edit.kind, (edit.target,) if edit.target else (), edit.text, edit.old)
        for edit in reply.edits[: request.limit]
    ]
    return edits_fault(request.principles, hunks, problems=[request.problem], kinds=LOCAL_KINDS)


def _consolidator_values(request: GlobalRequest) -> dict[str, Any]:
    suggestions = [item.model_dump() for item in request.suggestions]
    return {
        "principles": by_id(request.principles),
        "new": ", ".join(request.new) or "none",
        "context": sections(
            suggestions=(
                "Other proposals: texts for principles that exist, and by how many problems",
                suggestions,
            ),
            refused=("Edits that did not apply", request.refused),
            standing=("How the prompt stands without the additions", request.standing),
            guidance=request.guidance,
        ),
    }


def _consolidator_fault(request: GlobalRequest, reply: GlobalReply) -> str:
    return edits_fault(
        request.principles,
        [Hunk(edit.kind, tuple(edit.targets), edit.text) for edit in reply.edits],
        kinds=GLOBAL_KINDS,
    )


EDITOR = Role(
    "prompts_editor", LocalRequest, LocalReply, edit_locally, values=_editor_values, fault=_editor_fault
)
"""At most two edits for that problem (add, modify): mutation, step 3."""
CONSOLIDATOR = Role(
    "prompts_consolidator",
    GlobalRequest,
    GlobalReply,
    consolidate,
    values=_consolidator_values,
    fault=_consolidator_fault,
)
"""The edits of all problems as one plan (modify, merge): mutation, step 4."""
