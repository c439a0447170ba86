"""Calls of a one-shot writer: children of one parent are asked for together, since their requests differ in
their directions alone."""

from __future__ import annotations

from collections.abc import Sequence

from evolake.agents import AgentFailure, Agents, Reply
from evolake.programs.roles.writer import (
    WRITER,
    WRITER_GROUP,
    WriterGroupRequest,
    WriterReply,
    WriterRequest,
    fault,
)

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
