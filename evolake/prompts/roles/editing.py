"""The classical answers of the local editor and the consolidator, and why the edits of a reply cannot be
used.

The editor takes entries of the principle library by what went wrong. A symptom that no principle answers
brings one that does; a symptom that a principle answers without effect makes it stricter. If the library has
nothing more to say about a problem, an entry that is not in the prompt is tried: without that a search by
rules stops.

Of a reply one edit that applies is enough: the others are left out with their reasons, as rows, and later
requests show them. Else the model is sent the reasons before it may answer once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from evolake.agents.roles import Role
from evolake.prompts.model.library import PrincipleLibrary, library_of
from evolake.prompts.model.prompt import Hunk, Kind, Limits, Principle, SystemPrompt, apply
from evolake.prompts.roles.models import (
    SIBLINGS,
    STANDING,
    TRIED,
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
