"""The post-mortem analyst as a session: it reads whole diffs, what the gates said and the sources by tools,
instead of excerpts in one prompt.

There is no classical answer: operators group incidents by their edits in one step (`analyst`).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from evolake.agents.session_roles import session_role
from evolake.solvers.roles.models import RESEARCH_GOAL, RoleMessage
from evolake.solvers.roles.prompt_tables import stated
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
    champion: str = Field(default="", description="short id of the champion after this cycle's contests")
    contests: list[str] = Field(default_factory=list, description="contests in words, this cycle's last")
    sources: list[str] = Field(
        description="folders with the sources of the solvers that the variants descend from"
    )


def _prompt_values(request: AnalysisSessionRequest) -> dict[str, Any]:
    heads = [
        f"{item.variant_id} ({item.base}): {item.kind} at "
        f"{item.gate}{f' ({item.cause})' if item.cause else ''}"
        for item in request.incidents
    ]
    return {
        name: getattr(request, name) for name in ("goal", "cycle", "accepted", "earlier_findings", "sources")
    } | stated(
        {"incidents": "\n".join(heads), "champion": request.champion, "contests": "\n".join(request.contests)}
    )


ANALYST_SESSION = session_role(
    "solvers_analyst_session",
    AnalysisSessionRequest,
    AnalysisReply,
    setting="EVOLAKE_SOLVERS__ANALYST",
    values=_prompt_values,
)
"""What one cycle teaches, from its files."""
