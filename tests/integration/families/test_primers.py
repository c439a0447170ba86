"""The primers of examples/: each passes all gates, apart from one another too, and asks in few words."""

from pathlib import Path

import pytest
from families_fixtures import judged

from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.family_files import read_families
from evolake.families.model.wording import declared
from evolake.families.sandbox.running import generate
from evolake.families.settings import FamiliesSettings

FAMILIES = {
    family.name: family
    for family in read_families(Path(__file__).parents[3] / "examples" / "families" / "primers")
}
LONGEST = 160
"""Characters of a statement of difficulty 1."""


def test_every_primer_passes_every_gate_with_all_voters_on_all_labels(pool):
    known = []
    for name, family in FAMILIES.items():
        seen = judged(family, pool, settings=FamiliesSettings(), known=list(known))
        assert (name, seen.blocked_by) == (name, None)
        assert {verdict.gate for verdict in seen.verdicts} == set(GATE_NAMES)
        assert {vote.for_label for vote in (*seen.sample_votes, *seen.blind_votes)} == {
            tuple(family.voters())
        }
        assert [review.status for review in seen.reviews if not review.matched] == []
        known.append(seen.fingerprint)
    assert len(known) >= 8 and None not in known


@pytest.mark.parametrize("name", FAMILIES)
def test_a_primer_asks_in_few_words_declares_them_and_grows_with_the_difficulty(name, pool):
    made = generate(
        FAMILIES[name], [(difficulty, seed) for difficulty in (1, 10) for seed in range(6)], pool=pool
    )
    easy, hard = [item.text for item in made[:6]], [item.text for item in made[6:]]
    assert max(map(len, easy)) <= LONGEST and sum(map(len, hard)) >= sum(map(len, easy))
    assert declared(FAMILIES[name].reader) and FAMILIES[name].points
