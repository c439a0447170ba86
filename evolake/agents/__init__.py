"""Agents: roles served by classical operators or by a language model, with a call cache and a budget.

    with open_agents(settings, lake_root, cycle, run_id, line="designs") as agents:
        reply = agents.call(PLANNER, request, seed=seed)
        agents.assign(reply.call_id, artifact_id)         # the rows of this call name the artifact
    frame = AGENT_CALLS.frame(agents.rows())

`reply.value` is the role's reply, or an `AgentFailure`.
"""

from evolake.agents.agents import Agents, check_backend, open_agents
from evolake.agents.calls import AgentCall, Usage
from evolake.agents.guidance import Guidance, all_guidance, read_guidance, store_guidance, withdraw_guidance
from evolake.agents.roles import AgentFailure, Reply, Role, hide

__all__ = [
    "AgentCall",
    "AgentFailure",
    "Agents",
    "Guidance",
    "Reply",
    "Role",
    "Usage",
    "all_guidance",
    "check_backend",
    "hide",
    "open_agents",
    "read_guidance",
    "store_guidance",
    "withdraw_guidance",
]
