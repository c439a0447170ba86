"""Agents: roles served by classical operators or by a language model, with a tape and a budget (DESIGN 5)."""

from evolake.agents.agents import Agents, check_backend, open_agents
from evolake.agents.calls import AgentCall, Usage
from evolake.agents.roles import AgentFailure, Role

__all__ = ["AgentCall", "AgentFailure", "Agents", "Role", "Usage", "check_backend", "open_agents"]
