"""Call a one-shot writer: for several children together, with the limits in words, and for a revision.

Children of one parent are asked for together, since their requests differ in their directions alone. The
limits are time and memory of an evaluation, what the sandbox has, and how evaluations are counted.

In a revision the program is evaluated once, the writer is sent what came of it, and may write another one;
the better of both counts. Only a program that failed for a reason, or that scores better than its parent and
all programs that its author was shown, is worth that call: one that is worse is in the table of attempts that
the next generation reads. The evaluation of the one that does not count stays in the rows, with the purpose
`trial`.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from evolake.agents import AgentFailure, Agents, Reply
from evolake.errors import HostBusy, InputError
from evolake.gates.run import side_by_side
from evolake.programs.evolution.outcome import Context, candidate_rows, objection_of, outcome_text
from evolake.programs.evolution.population import Row, merit
from evolake.programs.evolution.search_memory import Recorded
from evolake.programs.gates import Candidate
from evolake.programs.model.project import program_id
from evolake.programs.roles import (
    WRITER,
    WRITER_GROUP,
    Measured,
    WriterGroupRequest,
    WriterReply,
    WriterRequest,
    applied,
    fault,
)
from evolake.programs.sandbox.environment import requirements_of
from evolake.programs.sandbox.evaluating import shown_metrics


@dataclass
class Draft:
    """A child on its way. request, reply: of the first draft, later of the one that counts. texts: None if
    there is no program. side: of its rows.

    candidate: with its evaluation. trials: rows of MEASURED of the one that does not count. other_call: of
    the reply that does not count.
    """

    request: WriterRequest
    reply: Reply[WriterReply | AgentFailure]
    seed: int
    attempt: int
    side: str
    candidate: Candidate | None = None
    trials: list[Row] = field(default_factory=list[Row])
    other_call: str = ""


def revised(context: Context, drafts: Sequence[Draft], recorded: Recorded) -> None:
    """Evaluate each draft that is a program, ask the author of one that is worth it for a revision, and leave
    the better of both in it."""
    usable = [draft for draft in drafts if isinstance(draft.reply.value, WriterReply)]
    texts = side_by_side(lambda draft: _evaluated(context, draft, recorded), usable, context.workers)
    asked = [
        (draft, _request(draft, text))
        for draft, text in zip(usable, texts, strict=True)
        if text and worth_revising(context, draft)
    ]
    replies = context.agents.call_many(
        WRITER,
        [request for _, request in asked],
        seeds=[draft.seed for draft, _ in asked],
        attempts=[draft.attempt for draft, _ in asked],
    )
    changed = [
        (draft, request, reply)
        for (draft, request), reply in zip(asked, replies, strict=True)
        if _changes(request, reply.value)
    ]
    side_by_side(lambda item: _better(context, *item), changed, context.workers)


def worth_revising(context: Context, draft: Draft) -> bool:
    """Return whether the evaluation of a draft leaves something to revise: a gate blocks it, or it is the
    best program that its author knows of."""
    if draft.candidate is None:
        return False
    passes, own = _merit(context, draft.candidate)
    known = [draft.request.parent.score, *(item.score for item in draft.request.best)]
    return not passes or own > max(merit(context.project, {"score": score}) for score in known)


def _changes(request: WriterRequest, reply: WriterReply | AgentFailure) -> bool:
    made = applied(reply, request.parent.files) if isinstance(reply, WriterReply) else ""
    return isinstance(made, dict) and made != request.parent.files


def _evaluated(context: Context, draft: Draft, recorded: Recorded) -> str:
    """Evaluate a draft, and return what its author is sent; "" if the host was too busy."""
    assert isinstance(draft.reply.value, WriterReply)
    texts = applied(draft.reply.value, draft.request.parent.files)
    if isinstance(texts, str) or texts == draft.request.parent.files:
        return ""
    draft.candidate = candidate = _candidate(context, texts)

    def make() -> dict[str, str]:
        return {"text": outcome_text(context, candidate, draft.request.parent)}

    try:
        text = recorded(f"trial\x1f{context.cycle}\x1f{draft.side}\x1f{candidate.program_id}", make)["text"]
        objection_of(context, candidate)  # a recorded text spares no evaluation: its rows are needed
    except HostBusy:
        draft.candidate, text = None, ""
    return text


def _request(draft: Draft, text: str) -> WriterRequest:
    """Return the request for a revision: the draft is the program to change now."""
    candidate, parent = draft.candidate, draft.request.parent
    assert candidate is not None and isinstance(draft.reply.value, WriterReply)
    said = f"The program above is your draft ({' '.join(draft.reply.value.idea.split())[:240]}).\n{text}\n"
    said += (
        "Revise it, with edits of the draft or a whole file. Without edits the draft counts as it is; "
        "else the better of both does."
    )
    score = parent.score if candidate.score is None else candidate.score
    shown = Measured(
        name="draft", score=score, metrics=shown_metrics(candidate.metrics), files=dict(candidate.texts)
    )
    sibling = (
        draft.request.sibling.model_copy(update={"siblings": [], "direction": ""})
        if draft.request.sibling
        else None
    )
    dropped = {
        "best": [],
        "artifacts": {},
        "parent_reason": "",
        "attempts": "",
        "generation": "",
        "contest": "",
        "front": [],
        "limits": "",
        "guidance": [],
        "sibling": sibling,
    }
    return draft.request.model_copy(update={"parent": shown, "round": said, "may_keep": True, **dropped})


def _better(
    context: Context, draft: Draft, request: WriterRequest, reply: Reply[WriterReply | AgentFailure]
) -> None:
    """Evaluate a revision, and let it take the draft's place if it is better."""
    assert isinstance(reply.value, WriterReply)
    texts = applied(reply.value, request.parent.files)
    assert isinstance(texts, dict)
    second, first = _candidate(context, texts), draft.candidate
    assert first is not None
    try:
        wins = _merit(context, second) > _merit(context, first)
    except HostBusy:
        return
    loser = first if wins else second
    draft.trials = candidate_rows(context, loser, "trial", draft.side)
    draft.other_call = draft.reply.call_id if wins else reply.call_id
    if wins:
        draft.candidate, draft.reply, draft.request = second, reply, request


def _merit(context: Context, candidate: Candidate) -> tuple[bool, float]:
    """Return whether the gates let it pass, and its score, such that higher is better."""
    blocked = bool(objection_of(context, candidate))
    return not blocked, float("-inf") if blocked else merit(context.project, {"score": candidate.score})


def _candidate(context: Context, texts: dict[str, str]) -> Candidate:
    return Candidate(texts, program_id(context.project.name, texts), context.evaluator, context.seeds())


LONGEST_GROUP = 12_000
"""Characters of all programs of one reply, if each is written as a whole: a longer reply might be cut off."""
Replied = Reply[WriterReply | AgentFailure]


def groups_of(requests: Sequence[WriterRequest], most: int) -> list[list[int]]:
    """Return the places of the requests of each call, in order: those of one parent, at most `most`, and as
    many as fit into one reply."""
    groups: list[list[int]] = []
    open_groups: dict[str, list[int]] = {}
    for place, request in enumerate(requests):
        length = max(1, sum(map(len, request.parent.files.values())))
        group = open_groups.get(request.parent.name)
        if group is None or len(group) >= max(1, min(most, LONGEST_GROUP // length)):
            group = open_groups[request.parent.name] = []
            groups.append(group)
        group.append(place)
    return groups


def replies_to(
    agents: Agents,
    requests: Sequence[WriterRequest],
    *,
    seeds: Sequence[int],
    numbers: Sequence[int],
    most: int,
) -> list[Replied]:
    """Return a reply to each request. One that no call for several gave a usable program is asked for alone,
    with the reason.

    numbers: attempt of each request, other for each of its generation. most: requests of a call.
    """
    groups = [group for group in groups_of(requests, most) if len(group) > 1]
    together = agents.call_many(
        WRITER_GROUP,
        [
            WriterGroupRequest(first=requests[group[0]], others=[requests[place] for place in group[1:]])
            for group in groups
        ],
        seeds=[seeds[group[0]] for group in groups],
        attempts=[numbers[group[0]] for group in groups],
    )
    replies: dict[int, Replied] = {}
    reasons: dict[int, str] = {}
    for group, reply in zip(groups, together, strict=True):
        if isinstance(reply.value, AgentFailure):
            continue
        for place, program in zip(group, reply.value.programs, strict=True):
            if reason := fault(requests[place], program):
                reasons[place] = reason
            else:
                replies[place] = reply.with_value(program)
    alone = [place for place in range(len(requests)) if place not in replies]
    asked = [_with_reason(requests[place], reasons.get(place, "")) for place in alone]
    single = agents.call_many(
        WRITER, asked, seeds=[seeds[place] for place in alone], attempts=[numbers[place] for place in alone]
    )
    replies |= dict(zip(alone, single, strict=True))
    return [replies[place] for place in range(len(requests))]


def _with_reason(request: WriterRequest, reason: str) -> WriterRequest:
    """Return the request with why the first reply to it could not be used."""
    if not reason or request.sibling is None:
        return request
    direction = f"{request.sibling.direction}\nYour reply could not be used: {reason}".strip()
    return request.model_copy(update={"sibling": request.sibling.model_copy(update={"direction": direction})})


LIBRARIES = ("numpy", "scipy")
"""Packages in addition to evolake that a program may find useful; those of the project's requirements.txt are
added."""


def limits_text(context: Context) -> str:
    """Return the limits of an evaluation, and what it costs, in lines."""
    limits, project, seeds = context.evaluator.limits, context.project, len(context.seeds())
    who = "the program alone" if project.mode == "separate" else "program and evaluator together"
    lines = [
        f"- One evaluation: {limits.cpu_s:g} s of processor time, {limits.wall_s:g} s on the clock, "
        f"{limits.memory_mb} MiB, for {who}. "
        "A program that exceeds a limit is blocked."
    ]
    if project.python:
        lines.append(
            f"- Python {sys.version_info.major}.{sys.version_info.minor} with "
            f"{', '.join(_libraries(context))}; no network."
        )
    if (known := project.given.construction).best is not None:
        source = ", ".join(filter(None, (known.source, known.date)))
        said = f" ({source})" if source else ""
        lines.append(f"- Best known {project.score_name}: {known.best:.15g}{said}.")
    if seeds > 1:
        lines.append(f"- A candidate is evaluated under {seeds} seeds, and the score is the mean.")
    if context.session is not None:
        lines.append(
            "- Every evaluation that you ask for counts like one of a candidate, and so does every script "
            "that you run."
        )
        left, turns = context.own.session_evaluations, context.turns
        lines.append(
            f"- This session: {turns} turns and {left} evaluations at most."
            if turns
            else f"- This session: {left} evaluations at most."
        )
    elif context.own.revisions:
        lines.append(
            "- A program that fails, or scores best so far, may be revised once after its evaluation."
        )
    return "\n".join(lines)


def _libraries(context: Context) -> list[str]:
    """Return packages with their versions."""
    try:
        wanted = [item.name for item in requirements_of(context.project)]
    except InputError:
        wanted = []
    found = []
    for name in dict.fromkeys((*LIBRARIES, *wanted)):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return [*found, "the standard library"]
