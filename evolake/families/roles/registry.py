"""The roles of the families line: what is asked, what comes back, the classical answer, the prompt file (evolake/agents/prompts/<name>.md).

    families_evolution_agent      make a family of parents, mend one that was blocked
    families_quality_reviewer     is the statement fit for publication?
    families_validator_builder    write a validator of one's own
    families_blind_reviewer       solve an instance from its text, with a Python tool
    families_experience_curator   which lessons to keep
"""

from __future__ import annotations

from evolake.agents.roles import Role, hide
from evolake.families.roles import models
from evolake.families.roles.blind import solve_blind
from evolake.families.roles.evolution import evolve
from evolake.families.roles.quality import build_validator, curate, review_quality

EVOLUTION_ROLE = Role(
    "families_evolution_agent", models.EvolveRequest, models.EvolveReply, evolve, values=hide("records", "draft_record", "taken")
)
QUALITY_ROLE = Role("families_quality_reviewer", models.QualityRequest, models.QualityReply, review_quality, values=hide("metrics"))
VALIDATOR_ROLE = Role("families_validator_builder", models.ValidatorRequest, models.ValidatorReply, build_validator)
BLIND_ROLE = Role("families_blind_reviewer", models.BlindRequest, models.BlindReply, solve_blind, values=hide("reader", "strategy", "points"))
CURATOR_ROLE = Role("families_experience_curator", models.CurateRequest, models.CurateReply, curate)
