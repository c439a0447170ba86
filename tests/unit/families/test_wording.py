"""Faults of wording: what they change, and when the evidence names them."""

import pytest
from families_fixtures import SEEDS, seed_family
from families_wording import WORDINGS, named, outcome

from evolake.families.gates.changes import word_changes, word_places
from evolake.families.model.family_files import read_families
from evolake.families.model.source_code import NotComposable
from evolake.families.model.statement import stated

CLINIC = seed_family("clinic-queue")


@pytest.mark.parametrize("name", WORDINGS)
def test_a_fault_of_wording_changes_the_text_of_several_seeds_and_no_program(name):
    taken = 0
    for family in read_families(SEEDS / "families"):
        try:
            spoilt = WORDINGS[name](family)
        except NotComposable:
            continue
        taken += 1
        assert stated(spoilt) != stated(family)
        assert spoilt.sources() == family.sources()
    assert taken >= 3


def test_each_word_is_taken_out_once_and_slots_are_none():
    template = "A [Input Slot 1] board has 3 rows.\n\n<!-- question -->\nHow many?\n"
    assert [shown for _, _, shown in word_places(template)] == [
        "*A* [Input Slot 1] board has 3 rows.",
        "A [Input Slot 1] *board* has 3 rows.",
        "A [Input Slot 1] board *has* 3 rows.",
        "A [Input Slot 1] board has 3 *rows*.",
        "*How* many?",
        "How *many*?",
    ]
    assert all(len(change.template) < len(stated(CLINIC)) for change in word_changes(CLINIC))


def test_a_wording_is_named_where_all_its_words_are_read_by_nobody():
    before, after = "Take at least two. Go on.", "Take more than two. Go on."
    both = ["Take *more* than two.", "Take more *than* two."]
    assert named(before, after, {"loose": both, "unread": []})
    assert named(before, after, {"loose": [], "unread": ["Take more than two."]})
    assert not named(before, after, {"loose": both[:1], "unread": ["Go on."]})
    assert named("Do not go.", "Do go.", {"loose": ["*Do* go.", "Do *go*."], "unread": []})
    assert not named("Do not go.", "Do go.", {"loose": ["*Do* go."], "unread": []})
    spoilt = WORDINGS["foreign sentence"](CLINIC)
    assert [outcome(CLINIC, spoilt, evidence) for evidence in (None, {"loose": [], "unread": []})] == [
        "blocked",
        "missed",
    ]
