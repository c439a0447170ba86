"""Lift and polish a program as one candidate: the value that it returns for every case is taken out of it,
its numbers are polished in the jail by the evaluator, and the best ones are written in place of the code.
Then the candidate goes through all gates like any other, so that nothing rests on what the polish says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evolake.agents import AgentFailure, Reply
from evolake.canonical_json import key_of
from evolake.errors import HostBusy
from evolake.programs.evolution.outcome import Context, polish_row
from evolake.programs.evolution.population import Row
from evolake.programs.model.program_text import BadBlocks, Unreadable
from evolake.programs.model.project import program_id
from evolake.programs.roles import WriterReply, WriterRequest, write
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.sandbox.polishing import with_numbers
from evolake.programs.search.lifting import function_in, lifted
from evolake.programs.search.proposing import POLISH

PART_S = 10.0
"""Processor seconds after which a polish notes what it has."""
TRIAL_S = 0.05
"""Processor seconds of a trial by another operator, its program's own left out: proposal, jail, gates and
rows, about."""


def polish_cost(context: Context, parent: Row) -> float | None:
    """Return how many times the processor time of other trials a polish takes; None if the project's programs
    cannot be polished."""
    if not context.own.polish_s or not can_polish(context.evaluator, context.seeds()):
        return None
    usual = TRIAL_S + (parent["cpu_s"] or 0.0) * len(context.seeds())
    return max(1.0, context.own.polish_s / usual)


def can_polish(evaluator: Evaluator, seeds: list[int]) -> bool:
    """Return whether the value of the initial program can be taken out of it. On a host that is too busy to
    say, it is asked again for the next child."""
    if evaluator.constant is None:
        try:
            evaluator.constant = _value(evaluator, evaluator.project.evolving, seeds) is not None
        except HostBusy:
            return False
    return evaluator.constant


def _value(evaluator: Evaluator, texts: Mapping[str, str], seeds: list[int]) -> Any:
    project = evaluator.project
    entry = project.given.program.entry
    if project.mode != "separate" or not entry or not project.python:
        return None
    try:
        if function_in(texts[project.main], entry, project.main) is None:
            return None
        return evaluator.constant_value(texts, seeds)
    except (Unreadable, BadBlocks):
        return None


def asks_for_polish(value: WriterReply | AgentFailure) -> bool:
    """Return whether a reply of the operators asks for a lifted and polished child."""
    return isinstance(value, WriterReply) and value.operator == POLISH


def polished(
    context: Context, request: WriterRequest, reply: Reply[WriterReply | AgentFailure], seed: int, place: int
) -> tuple[Reply[WriterReply | AgentFailure], list[Row]]:
    """Return the reply with a lifted and polished child, and a row of MEASURED of what that took, if the
    reply asks for one; else the reply as it is. A parent that cannot be lifted gets another operator's child.

    place: of the child in its cycle.
    """
    if not asks_for_polish(reply.value):
        return reply, []
    texts, project = request.parent.files, context.project
    try:
        value = _value(context.evaluator, texts, context.seeds())
    except HostBusy:
        value = None
    state = None if value is None else _state(context, texts, value, seed, place)
    child = None
    if state is not None and state["numbers"] is not None:
        child = lifted(
            texts[project.main],
            project.given.program.entry,
            project.main,
            with_numbers(value, state["numbers"]),
        )
    if state is None or child is None:
        other = request.model_copy(update={"polish_cost": None})
        return reply.with_value(write(other, np.random.default_rng(seed))), []
    row = polish_row(context, program_id(project.name, {**texts, project.main: child}), state, place)
    return reply.with_value(WriterReply(whole={project.main: child}, operator=POLISH)), [row]


def _state(
    context: Context, texts: Mapping[str, str], value: Any, seed: int, place: int
) -> dict[str, Any] | None:
    """Return what a polish has found when its seconds are spent; None if the evaluator failed in it at
    once."""
    key = key_of(
        {"project": context.project.sha, "texts": dict(texts), "seed": seed, "seconds": context.own.polish_s},
        ascii_only=True,
    )
    state: dict[str, Any] = dict(context.polishes.held.get((place, key), {}))
    while True:
        left = context.own.polish_s - state.get("seconds", 0.0)
        if left <= 0:
            return state
        try:
            found = context.evaluator.polish(
                value, context.seeds(), state, seconds=min(left, PART_S), seed=seed
            )
        except HostBusy:
            found = None
        if found is None or found["seconds"] <= state.get("seconds", 0.0):
            return state or None
        state = found
        context.polishes.note(place, key, state)
