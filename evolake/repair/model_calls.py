"""How often the study asks each role."""

from __future__ import annotations

from collections import Counter

from evolake.agents.forecast import RoleCalls, Start, asked
from evolake.repair.proposers import ROLES
from evolake.repair.settings import RepairSettings
from evolake.repair.trial import plan_of
from evolake.settings import Settings

PERTURBATIONS = 3
"""Versions of each main problem that is also run perturbed."""
LATER_ROUNDS = 0.5
"""Share of the rounds after the first that are probably needed: a trial ends with its first certified
answer."""


def model_calls(settings: Settings, start: Start) -> list[RoleCalls]:
    """Return the calls of the whole study: candidates times rounds for each problem, arm and seed.

    No reply is repaired: that would be a call that only some candidates get.
    """
    own = settings.of(RepairSettings)
    problems = own.problems + PERTURBATIONS * min(own.perturbed, own.problems) + own.transfer
    most, likely = Counter[str](), Counter[str]()
    for arm in own.arms:
        plan, name = plan_of(arm, own.candidates, own.rounds), ROLES[arm].name
        each = problems * own.seeds * plan.candidates
        most[name] += each * plan.rounds
        likely[name] += round(each * (1 + LATER_ROUNDS * (plan.rounds - 1)))
    roles = {role.name: role for role in ROLES.values()}
    return asked(
        [
            RoleCalls(roles[name], count, likely[name], data=700, reply=300, repairs=False)
            for name, count in most.items()
        ]
    )
