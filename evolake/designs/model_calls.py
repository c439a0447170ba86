"""How often a cycle of the line asks each role."""

from __future__ import annotations

import math

from evolake.agents.forecast import RoleCalls, Start, asked
from evolake.designs.evolution.proposals import REPAIRS
from evolake.designs.evolution.reviewing import DESIGNS_OF_A_CALL
from evolake.designs.evolution.trials import chosen_designer
from evolake.designs.roles.designer import (
    ANALYSIS_ROLE,
    DESIGN_REPAIR_ROLE,
    DESIGN_ROLE,
    DESIGN_SESSION,
    REVISION_ROLE,
)
from evolake.designs.roles.objective import OBJECTIVE_REPAIR_ROLE, OBJECTIVE_ROLE, REVIEW_ROLE
from evolake.designs.roles.planner import DIRECTIONS_ROLE, LOOKUP_ROLE
from evolake.designs.settings import DesignsSettings
from evolake.settings import Settings


def model_calls(settings: Settings, start: Start) -> list[RoleCalls]:
    """Return the calls of one cycle. A repair follows a design or an objective that a gate blocks, a revision
    one that fails in its trial: one in four each, until a lake says otherwise."""
    own = settings.of(DesignsSettings)
    designs, objectives = own.designs_per_cycle, own.objectives_per_cycle
    revisions, analyses = designs if own.revise else 0, math.ceil(designs / DESIGNS_OF_A_CALL)
    writers = [
        RoleCalls(DESIGN_ROLE, designs, designs, data=4000, reply=2000),
        RoleCalls(REVISION_ROLE, revisions, revisions / 4, reply=1000),
    ]
    if chosen_designer(own, "model", settings.budget) == "session":
        writers = [RoleCalls(DESIGN_SESSION, designs, designs, data=4000)]
    return asked(
        [
            RoleCalls(LOOKUP_ROLE, 1, 0 if start.first else 1),
            RoleCalls(DIRECTIONS_ROLE, 1, 1, data=4000, reply=1500),
            *writers,
            RoleCalls(DESIGN_REPAIR_ROLE, designs * REPAIRS, designs / 4, data=2500, reply=2500),
            RoleCalls(ANALYSIS_ROLE, analyses, analyses, data=400 * min(designs, DESIGNS_OF_A_CALL)),
            RoleCalls(OBJECTIVE_ROLE, objectives, objectives, data=4000),
            RoleCalls(OBJECTIVE_REPAIR_ROLE, objectives, objectives / 4),
            RoleCalls(REVIEW_ROLE, 1, min(1.0, designs / own.meta_review_every), data=4000),
        ]
    )
