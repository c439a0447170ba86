"""The roles of the solvers line: what is asked, what comes back, the classical answer and the prompt file.

    planner        solvers_planner
    coder          solvers_coder_lookup, solvers_coder, solvers_coder_repair
    analyst        solvers_analyst
    rule writer    solvers_rule_writer
    objectives     solvers_objective_writer

The name of a role is also the key under which a model may be chosen for it (`EVOLAKE_MODELS__SOLVERS_CODER`). Fields that only the operators use are
not among a prompt's values. Source: SATLUTION (arXiv 2509.07367), sections on the planning and coding agents and on rule evolution.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from evolake.agents import Role, hide
from evolake.solvers.roles import models
from evolake.solvers.roles.analyst import analyse, write_rule
from evolake.solvers.roles.coder import choose_regions, repair_change, write_change
from evolake.solvers.roles.objective import write_objective
from evolake.solvers.roles.planner import plan_cycle


def _incidents_without_edits(request: BaseModel) -> Mapping[str, Any]:
    return request.model_dump(mode="json", exclude={"accepted"} if isinstance(request, models.RuleRequest) else set()) | {
        "incidents": [item.model_dump(mode="json", exclude={"edits", "changed", "lost"}) for item in getattr(request, "incidents", [])]
    }


PLANNER = Role("solvers_planner", models.PlanRequest, models.PlanReply, plan_cycle, values=hide("materials", "forbidden"))
LOOKUP = Role("solvers_coder_lookup", models.LookupRequest, models.LookupReply, choose_regions)
CODER = Role("solvers_coder", models.CodeRequest, models.CodeReply, write_change, values=hide("plan", "material"))
CODER_REPAIR = Role("solvers_coder_repair", models.RepairRequest, models.CodeReply, repair_change, values=hide("plan", "edits", "material"))
ANALYST = Role("solvers_analyst", models.AnalysisRequest, models.AnalysisReply, analyse, values=_incidents_without_edits)
RULE_WRITER = Role("solvers_rule_writer", models.RuleRequest, models.RuleReply, write_rule, values=_incidents_without_edits)
OBJECTIVE_WRITER = Role("solvers_objective_writer", models.ObjectiveRequest, models.ObjectiveReply, write_objective)
ROLES = (PLANNER, LOOKUP, CODER, CODER_REPAIR, ANALYST, RULE_WRITER, OBJECTIVE_WRITER)
