"""Names of the study's arms. Those of the paper and the controls are run if nothing else is asked for; two
more are opt-in (`EVOLAKE_REPAIR__ARMS`, `--arms`)."""

from __future__ import annotations

from collections.abc import Collection

ONE_SHOT = "one_shot"
INFORMED = "multi_no_feedback_informed"
WHOLE_CONFLICT = "multi_whole_conflict_feedback"
RANDOM_NAMED = "multi_random_constraint_feedback"
ONE_VIOLATED = "multi_violated_constraint_feedback"
ALL_NAMED = "multi_all_constraints_feedback"
SHUFFLED = "multi_shuffled_feedback"

ARMS = (
    ONE_SHOT,
    "multi_no_feedback",
    "multi_generic_feedback",
    "multi_unsat_core_feedback",
    "cd_vgs_core_rank",
)
"""The paper's five."""
RESAMPLING = ARMS[1]
"""Multiple attempts without any feedback: what every other arm with more than one attempt is compared
with."""
OPT_IN_ARMS = (WHOLE_CONFLICT, SHUFFLED)
CONTROLS = (INFORMED, RANDOM_NAMED, ONE_VIOLATED, ALL_NAMED)
"""What a simple search does without the solver's word: reading all constraints, and feedback that names a
constraint drawn by chance, a violated one, or all of them."""
NAMED = CONTROLS[1:]
KNOWN_ARMS = (*ARMS[:2], INFORMED, ARMS[2], SHUFFLED, *NAMED, ARMS[3], WHOLE_CONFLICT, ARMS[4])
"""All of them, in the order of tables and comparisons: the more an arm is shown, the later it comes."""
CALL_PLACES = {arm: place for place, arm in enumerate((*ARMS, WHOLE_CONFLICT, *CONTROLS, SHUFFLED))}
"""Arm -> its place in the number of a call, which is part of the call cache's key: never renumbered."""


DEFAULT_ARMS = tuple(arm for arm in KNOWN_ARMS if arm not in OPT_IN_ARMS)


def in_order(arms: Collection[str]) -> tuple[str, ...]:
    """Return each of the given names once, in the order of KNOWN_ARMS.

    >>> in_order(["cd_vgs_core_rank", "one_shot"])
    ('one_shot', 'cd_vgs_core_rank')

    Raises:
        ValueError: there is none, or one that is no arm.
    """
    if not arms or not set(arms) <= set(KNOWN_ARMS):
        raise ValueError(f"wanted some of {', '.join(KNOWN_ARMS)} (got {', '.join(arms) or 'none'})")
    return tuple(arm for arm in KNOWN_ARMS if arm in arms)
