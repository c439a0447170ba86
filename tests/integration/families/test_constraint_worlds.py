"""Constraint worlds as they are drawn come through the gates."""

import numpy as np
import pytest
from families_fixtures import judged

from evolake.families.worlds.constraint_world import constraint_world


@pytest.mark.parametrize(
    ("number", "asks"),
    [(8, "one order from the list of all"), (18, "the number of each"), (23, "in how many ways")],
)
def test_a_rule_without_which_something_is_missing_is_a_rule(number, asks, pool):
    """The search of these worlds gives no answer at all where a constraint is taken to be never met, and the
    same where it is not among the clues: that says nothing against the constraint."""
    family = constraint_world(np.random.default_rng(number))
    assert asks in family.title
    evidence = judged(family, pool)
    assert evidence.accepted, evidence.blocked_by
