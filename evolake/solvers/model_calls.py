"""How often a cycle of the line asks each role."""

from __future__ import annotations

from evolake.agents.forecast import RoleCalls, Start, asked
from evolake.settings import Settings
from evolake.solvers.evolution.post_mortem import MAX_RULES
from evolake.solvers.roles.analyst import ANALYST, ANALYST_SESSION, RULE_WRITER
from evolake.solvers.roles.coder import CODER, CODER_REPAIR, CODER_REVISE, CODER_SESSION, LOOKUP
from evolake.solvers.roles.objective import OBJECTIVE_WRITER
from evolake.solvers.roles.planner import PLANNER
from evolake.solvers.settings import SolversSettings


def model_calls(settings: Settings, start: Start) -> list[RoleCalls]:
    """Return the calls of one cycle. A coder that is a command of the user's own costs nothing here. The
    first cycle draws its objectives."""
    own = settings.of(SolversSettings)
    variants, objectives = own.variants_per_cycle, 0 if start.first else own.objectives_per_cycle
    coder = {
        "one-shot": [
            RoleCalls(LOOKUP, variants, variants / 2, data=2000, reply=300),
            RoleCalls(CODER, variants, variants, data=6000, reply=1500),
            RoleCalls(CODER_REPAIR, variants * own.repair_attempts, variants / 2, data=9000, reply=1500),
            RoleCalls(
                CODER_REVISE,
                variants if own.trial_formulas else 0,
                variants / 3 if own.trial_formulas else 0,
                data=2500,
                reply=1000,
            ),
        ],
        "session": [RoleCalls(CODER_SESSION, variants, variants, data=3000)],
    }.get(own.coder, [])
    analyst = (
        RoleCalls(ANALYST_SESSION, 1, 1) if own.analyst == "session" else RoleCalls(ANALYST, 1, 1, data=4000)
    )
    return asked(
        [
            RoleCalls(PLANNER, 1, 1, data=5000, reply=1500),
            *coder,
            analyst,
            RoleCalls(RULE_WRITER, MAX_RULES, min(2, variants), data=4000),
            RoleCalls(OBJECTIVE_WRITER, objectives, objectives, data=4000),
        ]
    )
