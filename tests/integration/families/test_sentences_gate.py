"""Text held against code: good families in another dress pass, and five faults on which every program of the family agrees are blocked."""

from __future__ import annotations

import pytest
from families_fixtures import judged
from families_in_other_dress import DRESSED, FAULTY

from evolake.families.gates.specs import GATES


@pytest.mark.parametrize("name", DRESSED)
def test_a_good_family_in_another_dress_passes_every_gate(name, pool):
    examined = judged(DRESSED[name], pool)
    assert examined.blocked_by is None
    assert len(examined.results) == len(GATES)


@pytest.mark.parametrize("name", FAULTY)
def test_a_text_that_contradicts_every_program_is_blocked(name, pool):
    plant, rule = FAULTY[name]
    blocked = judged(plant(), pool).blocked_by
    assert blocked is not None
    assert (blocked.gate, blocked.rule_id) == ("sentences", rule), blocked.reason
