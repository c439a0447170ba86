"""The short form of tests/attacks/test_changed_texts.py."""

import pytest
from reading_fuzz import TARGETS, fuzz


@pytest.mark.parametrize("name", TARGETS)
def test_changed_texts_are_read_or_refused_in_words(name):
    tried, refused = fuzz(name, 0.3, seed=0)
    assert 0 < refused <= tried
