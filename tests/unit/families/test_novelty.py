"""Who has a turn, and who becomes a parent."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from families_fixtures import SEEDS, seed_family

from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.loading import read_families
from evolake.families.operators.novelty import depth, novel_parents
from evolake.families.operators.pipe import pipe
from evolake.families.operators.registry import COMPOSING, WORLDS, child_of, turn

CLINIC, CARDS, LIARS = (seed_family(name) for name in ("clinic-queue", "remainder-subsets", "truth-tellers"))


@pytest.mark.parametrize(("share", "worlds"), [(0.0, 0), (0.5, 30), (0.4, 24), (1.0, 60)])
def test_worlds_have_their_share_of_the_turns_and_the_others_go_round(share, worlds):
    turns = [turn(number, share=share) for number in range(60)]
    assert sum(turn in WORLDS for turn in turns) == worlds
    composed = [turn for turn in turns if turn in COMPOSING]
    assert composed == [list(COMPOSING)[number % len(COMPOSING)] for number in range(60 - worlds)]
    assert [turn(number, start=4) for number in range(2)] == list(COMPOSING)[4:6]


def test_the_depth_of_a_family_is_that_of_its_compositions():
    once = pipe([CLINIC, CARDS], np.random.default_rng(0))
    twice = child_of("aggregate", [once], np.random.default_rng(0))
    assert [depth(item) for item in (CLINIC, once, twice)] == [0, 1, 2]
    assert depth(replace(CLINIC, generator="def (")) == 0
    with pytest.raises(NotComposable, match="more than 1 compositions"):
        child_of("aggregate", [once], np.random.default_rng(0), deepest=1)
    assert depth(child_of("switch", [twice], np.random.default_rng(0), deepest=1)) == 2


def test_parents_that_were_used_seldom_come_first_and_are_unlike_each_other():
    many = [
        replace(
            CARDS, name=f"child{number}", template=CARDS.template + "x" * number, parents=(CLINIC.family_id,)
        )
        for number in range(30)
    ]
    drawn = Counter(
        family.name
        for seed in range(40)
        for family in novel_parents([CLINIC, LIARS, *many], 2, np.random.default_rng(seed), known={})
    )
    assert drawn["truth-tellers"] > 3 * drawn["clinic-queue"]
    assert max(count for name, count in drawn.items() if name.startswith("child")) <= 40
    seeds = read_families(SEEDS / "families")
    item, again = (novel_parents(seeds, 4, np.random.default_rng(9), known={}) for _ in range(2))
    assert item == again
    assert len({family.family_id for family in item}) == 4


def test_families_at_the_greatest_depth_are_no_parents_where_there_are_others():
    once = pipe([CLINIC, CARDS], np.random.default_rng(0))
    assert {
        family.name
        for seed in range(9)
        for family in novel_parents([once, LIARS], 2, np.random.default_rng(seed), known={}, deepest=1)
    } == {"truth-tellers"}
    assert novel_parents([once], 2, np.random.default_rng(0), known={}, deepest=1) == [once]
