"""Who trains on what: no family of one side has an ancestor of the other, arms take what their name says,
problems are shared out in turns."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.utility.pools import filled, pools_of

SEEDS = [f"seed-{number}" for number in range(12)]


def row(
    family: str, *parents: str, operator: str = "switch", state: str = "accepted", language: str = "en"
) -> dict:
    return {
        "family_id": family,
        "parents": list(parents),
        "operator": operator,
        "state": state,
        "language": language,
    }


def population(*further: dict) -> list[dict]:
    return [*(row(name, operator="seed") for name in SEEDS), *further]


def test_each_arm_trains_on_what_its_name_says():
    grown = [row(f"child-{name}", name) for name in SEEDS] + [
        row("grandchild", "child-seed-0"),
        row("drawn", operator="constraint_world"),
    ]
    pools = pools_of(population(*grown), 0.3, None)
    trained = set(pools.train["mixed"])
    assert set(pools.train["seeds"]) == trained & set(SEEDS)
    assert set(pools.train["evolved"]) == trained - set(SEEDS)
    parents = {item["family_id"]: item["parents"] for item in grown}
    assert pools.train["parents"] == Counter(
        parent for item in pools.train["evolved"] for parent in parents[item]
    )
    assert pools.test and not trained & set(pools.test)


@given(
    st.lists(
        st.lists(st.sampled_from(SEEDS + [f"c{n}" for n in range(20)]), min_size=1, max_size=2),
        min_size=20,
        max_size=20,
    )
)
def test_no_held_out_family_has_an_ancestor_of_one_that_is_trained_on(drawn):
    grown = [
        row(f"c{number}", *(item for item in above if item in SEEDS or int(item[1:]) < number))
        for number, above in enumerate(drawn)
    ]
    try:
        pools = pools_of(population(*grown), 0.4, None)
    except InputError:
        return
    ancestors: dict[str, set[str]] = {}
    for element in population(*grown):
        ancestors[element["family_id"]] = {element["family_id"]}.union(
            *(ancestors[parent] for parent in element["parents"])
        )
    trained = set().union(*(ancestors[item] for arm in pools.train.values() for item in arm))
    assert not trained & set().union(*(ancestors[item] for item in pools.test))


@pytest.mark.parametrize("rows", [[], population(), population(row("drawn", operator="constraint_world"))])
def test_a_population_that_leaves_an_arm_empty_is_an_error_that_counts_what_there_is(rows):
    with pytest.raises(InputError, match="there is no family for"):
        pools_of(rows, 0.3, None)


def test_families_give_problems_in_turns_as_their_weight_says_and_two_queues_half_each():
    queue = {"a": ["a1", "a2", "a3", "a4"], "b": ["b1", "b2"]}
    assert filled([queue], {"a": 2, "b": 1}, 5) == ["a1", "a2", "b1", "a3", "a4"]
    assert filled([queue], {"a": 1, "b": 1}, 99) == ["a1", "b1", "a2", "b2", "a3", "a4"]
    assert filled([queue, {"c": ["c1", "c2", "c3"]}], {"a": 1, "b": 1, "c": 1}, 4) == ["a1", "c1", "b1", "c2"]
