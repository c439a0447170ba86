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
from evolake.families.operators.registry import child_of
from evolake.families.operators.switch import switch_rule
from evolake.families.operators.text import (
    EN,
    LETTERS,
    LONGEST_TITLE,
    ZH,
    fresh_letters,
    heading,
    in_title,
    quoting,
    short,
)
from evolake.families.worlds.titles import rules_of

CLINIC = seed_family("clinic-queue")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same_things_of_the_same_values():
    assert {key: fields(text) for key, text in EN.items()} == {key: fields(text) for key, text in ZH.items()}


def test_titles_of_children_stay_short_and_name_each_rule_once():
    long = (
        "Numbers with votes (votes: one), by a rule that “Beads in two jars” decides, several cases "
        "together, asked the other way round"
    )
    assert (heading(long), short(long), short("The K-th ring, several cases together")) == (
        "Numbers with votes",
        "Numbers with votes",
        "The K-th ring, several cases together",
    )
    titles = (
        "Beads in two jars: what is left, by putting in",
        "停车费（多种情形）",
        "停车费（其中说“五元”）",
        "Votes, where it says “two”",
    )
    assert [heading(title) for title in titles] == ["Beads in two jars", "停车费", "停车费", "Votes"]


def test_a_title_quotes_the_rules_that_hold_and_none_that_is_gone():
    assert quoting("Votes", "en", gone=[], new=["one vote"]) == "Votes, where it says “one vote”"
    assert (
        quoting("Votes, where it says “one vote”", "en", gone=["one vote"], new=["two votes"])
        == "Votes, where it says “two votes”"
    )
    assert (
        quoting("Votes, where it says “one vote”", "en", gone=["five"], new=["six"])
        == "Votes, where it says “one vote” and “six”"
    )
    inside = "Votes, where it says “one vote” and “six”, several cases together"
    assert (
        quoting(inside, "en", gone=["six"], new=["five"])
        == "Votes, where it says “one vote”, several cases together, where it says “five”"
    )
    assert (
        quoting("停车费（其中说“五元”）", "zh", gone=["五元"], new=["六元", "七元"])
        == "停车费（其中说“六元”和“七元”）"
    )
    assert len(quoting("a" * 150 + ": which", "en", gone=[], new=["b" * 60, "c" * 60])) <= LONGEST_TITLE
    assert in_title("those “good” ones\n[Rule side] [Input Slot 4].") == "those good ones … …"
    assert in_title(
        "The doctor takes no breaks: the next treatment can begin in the very minute in which the last "
        "one ends."
    ) == ("The doctor takes no breaks: the next treatment can begin in …")


@pytest.mark.parametrize("number", range(8))
def test_the_title_of_a_switched_world_names_the_rules_in_force_and_no_name_of_the_code(number):
    world = child_of("process_world", [], np.random.default_rng(number))
    child, before = world, []
    for turn in range(4):
        before.append(child.title)
        child = switch_rule([child], np.random.default_rng(turn))
        rules = rules_of(child)
        assert rules and rules in child.title and child.title.count(", by ") == 1 and "_" not in child.title
        extreme = [point.chosen for point in child.points if point.name == "extreme"]
        assert all(f"“{word}”" not in child.title for word in {"smallest", "largest"} - set(extreme))
    assert len({*before, child.title}) > 1
    clinic = switch_rule([CLINIC], np.random.default_rng(1))
    assert (
        clinic.title.startswith("One doctor, many patients, where it says “")
        and len(clinic.title) <= LONGEST_TITLE
    )


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
