"""What operators say: the same in both languages."""

from __future__ import annotations

from dataclasses import replace
from string import Formatter

import pytest
from families_fixtures import SEEDS, seed_family

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Alternative, MutationPoint
from evolake.families.model.loading import read_families
from evolake.families.operators.common import check_rules
from evolake.families.operators.switch import retold
from evolake.families.operators.text import EN, LETTERS, ZH, fresh_letters, heading, short

CLINIC = seed_family("clinic-queue")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same_things_of_the_same_values():
    assert {key: fields(text) for key, text in EN.items()} == {key: fields(text) for key, text in ZH.items()}


def test_titles_of_children_stay_short_and_name_each_rule_once():
    long = "Numbers with votes (votes: one), by a rule that “Beads in two jars” decides, several cases together, asked the other way round"
    assert (heading(long), short(long), short("The K-th ring, several cases together")) == (
        "Numbers with votes", "Numbers with votes", "The K-th ring, several cases together",
    )
    titles = ("Beads in two jars: what is left, by the rules put, take", "停车费（多种情形）")
    assert [heading(title) for title in titles] == ["Beads in two jars", "停车费"]
    assert retold("Votes", {"votes": "one"}) == "Votes (votes: one)"
    assert retold("Votes (votes: one, wanted: sum)", {"wanted": "count"}) == "Votes (votes: one, wanted: count)"
    assert retold("Tea (with milk)", {"cup": "small"}) == "Tea (with milk) (cup: small)"


def test_a_letter_that_any_parent_uses_is_not_taken():
    assert fresh_letters([CLINIC], 2) == ["κ", "λ"]
    assert fresh_letters([CLINIC, replace(CLINIC, template="κ is μ")], 2) == ["λ", "ν"]
    assert fresh_letters([replace(CLINIC, validators={"v": "# κ"})], 1) == ["λ"]
    with pytest.raises(NotComposable, match="are free"):
        fresh_letters([replace(CLINIC, template=LETTERS)], 1)


@pytest.mark.parametrize("family", read_families(SEEDS / "families"), ids=lambda family: family.name)
def test_rules_of_shipped_seeds_can_be_told_from_their_text(family):
    check_rules(family)


def test_a_rule_whose_words_stand_elsewhere_makes_no_child():
    yes, no = Alternative("yes", "A treatment is never interrupted.", "1"), Alternative("no", "It may be interrupted.", "2")
    point = MutationPoint("late", (yes, no), "no")
    child = replace(CLINIC, template=CLINIC.template + "[Rule late]\n", points=(*CLINIC.points, point))
    with pytest.raises(NotComposable, match="two rules"):
        check_rules(child)
    unsaid = replace(point, alternatives=(replace(yes, text="Never."), replace(no, text="")))
    with pytest.raises(NotComposable, match="does not say the rule LATE"):
        check_rules(replace(child, points=(*CLINIC.points, unsaid)))
