"""What operators say: the same in both languages, found again by the expressions that stand beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from string import Formatter

import pytest
from families_fixtures import SEEDS, seed_family

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Alternative, MutationPoint
from evolake.families.model.loading import read_families
from evolake.families.model.statement import SLOT
from evolake.families.operators.common import check_rules
from evolake.families.operators.text import EN, LETTERS, READ, SAID, ZH, expression, fresh_letters, say

CLINIC = seed_family("clinic-queue")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same_things_of_the_same_values():
    assert {key: fields(text) for key, text in EN.items()} == {key: fields(text) for key, text in ZH.items()}


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize(("key", "number"), [("pipe", 17), ("invert", 12), ("filter", -4)])
def test_the_number_that_an_operator_adds_is_found_again(language, key, number):
    family = replace(CLINIC, language=language)
    values: dict[str, str] = dict.fromkeys(fields(EN[key]), "1") | {"value": "λ", "low": "2 plus "}
    if key == "filter":
        values["rule"] = say(family, "keep bound", side="side", slot=3).replace("[Rule side]", say(family, "side most", quantity="q"))
    text = SLOT.sub(str(number), say(family, key, **values))
    found = re.search(expression(family, key, value="λ"), text)
    assert found is not None
    assert {int(one) for one in found.groups()} == {number}
    assert set(READ[key]) == set(SAID)


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
