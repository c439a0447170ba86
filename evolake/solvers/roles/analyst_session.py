"""The post-mortem analyst as a session: it reads whole diffs, what the gates said and the sources by tools, instead of excerpts in one prompt.

There is no classical answer: operators group incidents by their edits in one step (`analyst`).
"""

from __future__ import annotations

from pydantic import Field

from evolake.agents.session.role import session_role
from evolake.solvers.roles.models import RESEARCH_GOAL, RoleMessage
from evolake.solvers.roles.review_models import AnalysisReply


class IncidentCard(RoleMessage):
    """An incident by its files in the workspace."""

    variant_id: str
    base: str
    kind: str
    gate: str
    cause: str
    files: list[str]


class AnalysisSessionRequest(RoleMessage):
    """What the session is for, and what it starts from."""

    goal: str = RESEARCH_GOAL
    cycle: str
    incidents: list[IncidentCard]
    accepted: int = Field(description="variants that passed all gates")
    earlier_findings: list[str]
    sources: list[str] = Field(description="folders with the sources of the solvers that the variants descend from")


ANALYST_SESSION = session_role(
    "solvers_analyst_session", AnalysisSessionRequest, AnalysisReply, setting="EVOLAKE_SOLVERS__ANALYST",
)
"""What one cycle teaches, from its files."""
