"""The roles of the designs line: what is asked, what comes back, the classical answer and the prompt file (paper, section S5).

    planner             designs_planner_lookup, designs_planner_directions
    designer            designs_designer, designs_designer_repair, designs_designer_analysis
    objective writer    designs_objective_writer, designs_objective_repair
    meta reviewer       designs_meta_reviewer

The name of a role is also the key under which a model may be chosen for it (`EVOLAKE_MODELS__DESIGNS_DESIGNER`). Fields that only the operators
use are not among a prompt's values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from evolake.agents import Role
from evolake.designs.roles import models
from evolake.designs.roles.designer import analyse_design, repair_design, write_design
from evolake.designs.roles.objective import repair_objective, review_objectives, write_objective
from evolake.designs.roles.planner import choose_lookups, give_directions


def _all_but(*hidden: str) -> Callable[[BaseModel], Mapping[str, Any]]:
    return lambda request: request.model_dump(mode="json", exclude=set(hidden))


LOOKUP_ROLE = Role("designs_planner_lookup", models.LookupRequest, models.LookupReply, choose_lookups)
DIRECTIONS_ROLE = Role("designs_planner_directions", models.DirectionsRequest, models.DirectionsReply, give_directions)
DESIGN_ROLE = Role("designs_designer", models.DesignRequest, models.DesignReply, write_design, values=_all_but("parents", "taken"))
DESIGN_REPAIR_ROLE = Role("designs_designer_repair", models.RepairRequest, models.DesignRepairReply, repair_design, values=_all_but("genome"))
ANALYSIS_ROLE = Role("designs_designer_analysis", models.AnalysisRequest, models.AnalysisReply, analyse_design)
OBJECTIVE_ROLE = Role("designs_objective_writer", models.ObjectiveRequest, models.ObjectiveReply, write_objective)
OBJECTIVE_REPAIR_ROLE = Role(
    "designs_objective_repair", models.RepairRequest, models.ObjectiveRepairReply, repair_objective, values=_all_but("genome")
)
REVIEW_ROLE = Role("designs_meta_reviewer", models.ReviewRequest, models.ReviewReply, review_objectives)
ROLES = (
    LOOKUP_ROLE, DIRECTIONS_ROLE, DESIGN_ROLE, DESIGN_REPAIR_ROLE, ANALYSIS_ROLE, OBJECTIVE_ROLE, OBJECTIVE_REPAIR_ROLE, REVIEW_ROLE,
)
