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
from evolake.families.operators.registry import child_of

CLINIC, CARDS, LIARS = (seed_family(name) for name in ("clinic-queue", "remainder-subsets", "truth-tellers"))


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
