"""How often a cycle of the line asks each role."""

from __future__ import annotations

from evolake.agents.forecast import RoleCalls, Start, asked
from evolake.families.evolution.shipped_seeds import SEEDS, left_to_model
from evolake.families.roles.evolution_agent import EVOLUTION_ROLE, EVOLUTION_SESSION
from evolake.families.roles.readers import BLIND_ROLE, SOLVER_ROLE
from evolake.families.roles.reviewers import AUTHOR_ROLE, CURATOR_ROLE, QUALITY_ROLE, VALIDATOR_ROLE
from evolake.families.settings import DRIFT_PAIRS, FamiliesSettings
from evolake.gates import load_rules
from evolake.lake.added_seeds import seeds_of
from evolake.settings import Settings

TURNS = 2
"""Programs that a blind reviewer probably runs, its last reply included."""


def model_calls(settings: Settings, start: Start) -> list[RoleCalls]:
    """Return the calls of one cycle. What the line begins with costs calls if a model reviews it
    (`seed_review`) or if operators cannot; a family that is added later costs those of any other."""
    own = settings.of(FamiliesSettings)
    families = own.families_per_cycle
    new = start.new_seeds(
        lambda: seeds_of(SEEDS, settings), load_rules(settings.seeds / "rules", "families").hash
    )
    by_model = start.begun or own.seed_review == "model"
    seeded = len(new if by_model else [*left_to_model(new, settings)])
    drafts = 0 if own.evolution_agent == "session" else own.measured_drafts
    versions, likely = families * (1 + own.refinements), families * (1 + own.refinements / 2)
    judged, blind = seeded + versions, len(own.blind_difficulties)
    reviewed = seeded + likely * 0.7
    writer, author = (EVOLUTION_SESSION if own.evolution_agent == "session" else EVOLUTION_ROLE), AUTHOR_ROLE
    written = likely * own.validators
    if own.validator_authors == "together":
        author, written = VALIDATOR_ROLE, likely * own.validators / 4
    drift = (
        DRIFT_PAIRS * 2 * len(own.drift_difficulties) * own.drift_samples
        if SOLVER_ROLE.name in settings.models
        else 0
    )
    return asked(
        [
            RoleCalls(
                writer,
                versions + families * drafts,
                likely + families * min(drafts, 1) / 2,
                data=5000,
                reply=3000,
            ),
            RoleCalls(author, judged * own.validators, written, data=2000, reply=1200),
            RoleCalls(QUALITY_ROLE, judged, reviewed, reply=300),
            RoleCalls(BLIND_ROLE, judged * blind * own.reviewer_turns, reviewed * blind * TURNS),
            RoleCalls(CURATOR_ROLE, 1, 1, data=3000),
            RoleCalls(SOLVER_ROLE, drift, drift / 2),
        ]
    )
