"""The post-mortem analyst as a session of a model: its workspace, which holds what the one-shot analyst is
shown, whole, and the sources next to it.

Contests are sent by their verdict and by family. No formula of one, no holdout formula and no PAR-2 that
roles may not see yet is in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.agents.session_roles import SessionSpec, hold_session, require_model
from evolake.agents.session_tools import Workspace
from evolake.settings import Settings
from evolake.solvers.roles.analyst_session import ANALYST_SESSION, AnalysisSessionRequest, IncidentCard
from evolake.solvers.roles.prompt_tables import families_text
from evolake.solvers.roles.review_models import AnalysisReply, AnalysisRequest, Incident
from evolake.solvers.settings import SolversSettings

NOTES = "notes.md"


@dataclass(frozen=True)
class SessionAnalyst:
    """Holds the session of a cycle. sources: base -> path -> text, of the solvers that variants descend from.
    jail: opens the jail of the tools."""

    jail: Callable[[], AbstractContextManager[Any]]
    sources: Callable[[], Mapping[str, Mapping[str, str]]] = field(default=dict)

    def analyse(self, agents: Agents, request: AnalysisRequest, *, seed: int) -> AnalysisReply | AgentFailure:
        """Return what the session finished with."""
        sources = {
            base: files
            for base, files in self.sources().items()
            if base in {item.base for item in request.incidents}
        }
        files = {
            f"sources/{base}/{name}": text
            for base, tree in sorted(sources.items())
            for name, text in tree.items()
        }
        files |= {
            "cycle/families.txt": families_text(request.families),
            "cycle/attempts.txt": request.attempts,
        }
        for item in request.incidents:
            files |= files_of(item)
        asked = AnalysisSessionRequest(
            cycle=request.cycle,
            accepted=request.accepted,
            earlier_findings=request.earlier_findings,
            sources=[f"sources/{base}" for base in sorted(sources)],
            champion=request.champion,
            contests=request.contests,
            incidents=[
                IncidentCard(
                    variant_id=item.variant_id,
                    base=item.base,
                    kind=item.kind,
                    gate=item.gate,
                    cause=item.cause,
                    files=sorted(files_of(item)),
                )
                for item in request.incidents
            ],
        )
        with self.jail() as pool:
            spec = SessionSpec(
                ANALYST_SESSION,
                asked,
                Workspace(files, lambda path: path == NOTES),
                lambda reply, workspace: reply,
            )
            return hold_session(agents, spec, pool.call, seed=seed).value


def files_of(item: Incident) -> dict[str, str]:
    """Return what was said of one incident, and its diff."""
    gain = "" if item.solved_gain is None else f"Solved more than its parent: {item.solved_gain:g}\n"
    head = f"# {item.variant_id}, a child of {item.base}\n\n{item.kind} at {item.gate}: {item.cause}\n{gain}"
    text = f"{head}\n## What it was for\n\n{item.hypothesis}\n\n## What was said\n\n{item.detail}\n"
    return {
        f"incidents/{item.variant_id}/told.md": text,
        f"incidents/{item.variant_id}/change.diff": item.diff,
    }


def check_analyst(settings: Settings) -> None:
    """Raise InputError where the setting `analyst` cannot be followed."""
    require_model("an analyst", ANALYST_SESSION, settings.of(SolversSettings).analyst, settings.backend)
