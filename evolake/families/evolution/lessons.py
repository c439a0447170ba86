"""The lessons that proposers are sent: the curator makes them from what blocked families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evolake.agents import AgentFailure, Agents
from evolake.families.evolution.observations import Observation
from evolake.families.evolution.requests import LINE
from evolake.families.roles.models import CurateRequest
from evolake.families.roles.quality import CURATOR_ROLE
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed

MOST_LESSONS = 30
"""Lessons that proposers are sent."""


def learn(
    agents: Agents,
    existing: Sequence[str],
    observations: Sequence[Observation],
    *,
    settings: FamiliesSettings,
    cycle: str,
    root_seed: int,
) -> list[str]:
    """Return the experience after these observations; what there was if the curator gives no usable reply. A
    model is asked only about a new lesson."""
    lessons = [observation.lesson for observation in observations if observation.lesson]
    by_operators = agents.backend.name == "operators"
    if not lessons or (not by_operators and set(lessons) <= set(existing)):
        return list(existing)
    request = CurateRequest(
        existing=list(existing),
        candidates=list(dict.fromkeys(lessons)),
        limit=MOST_LESSONS,
        blocked=[] if by_operators else blocked_lines(observations),
    )
    reply = agents.call(CURATOR_ROLE, request, seed=child_seed(root_seed, LINE, cycle, "experience")).value
    return list(existing) if isinstance(reply, AgentFailure) else reply.items[:MOST_LESSONS]


def blocked_lines(observations: Sequence[Observation]) -> list[str]:
    """Return a line for each rule that blocked families: how many, and the reason of the last one."""
    last = {(item.gate, item.rule_id): item for item in observations}
    counts = Counter((item.gate, item.rule_id) for item in observations)
    return [
        f"gate {gate}, {rule}: {counts[gate, rule]} blocked, the last for: {item.reason[:200]}"
        for (gate, rule), item in last.items()
    ]
