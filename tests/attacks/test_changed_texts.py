"""Each format that comes from outside, changed at random for a minute: every text is read or refused in
words."""

import pytest
from reading_fuzz import TARGETS, fuzz

pytestmark = pytest.mark.attack
SECONDS = 60.0


@pytest.mark.parametrize("name", TARGETS)
def test_changed_texts_never_end_otherwise(name):
    tried, refused = fuzz(name, SECONDS, seed=1)
    print(f"{name}: {tried} tried, {refused} refused")
    assert refused
