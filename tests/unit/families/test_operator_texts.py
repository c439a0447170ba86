"""What operators say: the same in both languages."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations
from string import Formatter

import numpy as np
import pytest
from families_fixtures import SEEDS, seed_family

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Alternative, MutationPoint
from evolake.families.model.joining import own_text
from evolake.families.model.loading import read_families
from evolake.families.operators.common import check_rules
from evolake.families.operators.guard import GUARDED, guard
from evolake.families.operators.text import EN, LETTERS, ZH, fresh_letters

CLINIC = seed_family("clinic-queue")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same_things_of_the_same_values():
    assert {key: fields(text) for key, text in EN.items()} == {key: fields(text) for key, text in ZH.items()}


@pytest.mark.slow
def test_a_guard_takes_no_rule_that_another_guard_quotes_or_decides_by():
    """Nested, they would read "otherwise it stands for the words “λ”", or quote a condition."""
    families, random = (
        [seed_family("blocked-streets"), seed_family("divisor-votes"), seed_family("postfix-machine")],
        np.random.default_rng(0),
    )
    inner = guard([families[1], families[0]], random)
    taken = 0
    for _ in range(30):
        try:
            outer = guard([families[2], inner], random)
        except NotComposable:
            continue
        taken += 1
        said = own_text(outer.template)[1]
        assert said.startswith("Let ")
        assert not re.search(
            r"\[Rule b_\w*_then_(then|else)\]|\[Rule b_\w*_else_(then|else)\]|\[Rule b_when", said
        )
    assert taken > 0
    names = {match for result in GUARDED.findall(inner.template) for match in result if match}
    assert {name.rsplit("_", 1)[-1] for name in names} == {"then", "else", "when"}
    chinese = [read for read in read_families(SEEDS / "families") if read.language == "zh"]
    for pair in permutations(chinese, 2):
        try:
            results = GUARDED.findall(guard(list(pair), random).template)
        except NotComposable:
            continue
        assert len([name for item in results for name in item if name]) == 3


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
    yes, no = (
        Alternative("yes", "A treatment is never interrupted.", "1"),
        Alternative("no", "It may be interrupted.", "2"),
    )
    point = MutationPoint("late", (yes, no), "no")
    child = replace(CLINIC, template=CLINIC.template + "[Rule late]\n", points=(*CLINIC.points, point))
    with pytest.raises(NotComposable, match="two rules"):
        check_rules(child)
    unsaid = replace(point, alternatives=(replace(yes, text="Never."), replace(no, text="")))
    with pytest.raises(NotComposable, match="does not say the rule LATE"):
        check_rules(replace(child, points=(*CLINIC.points, unsaid)))
