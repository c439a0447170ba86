"""Visits and UCB on graphs small enough to count by hand, and on random ones against a plain walk."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.search.mcgs import RankedDesign, SearchGraph


def visits(graph: SearchGraph) -> dict:
    return dict(zip(graph.nodes, graph.visits.tolist(), strict=True))


def test_a_chain_fades_with_every_hop():
    graph = SearchGraph("abcd", [("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)])
    assert visits(graph) == pytest.approx({"a": 1 + 0.9 + 0.9 * 0.81, "b": 1 + 0.9, "c": 1, "d": 0})
    assert graph.total_visits == pytest.approx(3 + 2 * 0.9 + 0.729)


def test_two_parents_share_by_weight():
    graph = SearchGraph(
        ["root", "p", "q", "child"], [("root", "p", 1.0), ("p", "child", 0.7), ("q", "child", 0.3)]
    )
    assert visits(graph) == pytest.approx({"root": 1 + 0.7 * 0.9, "p": 0.7, "q": 0.3, "child": 0})


def test_a_diamond_pays_the_root_once_a_path():
    graph = SearchGraph([0, 1, 2, 3], [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 0.25), (2, 3, 0.75)])
    assert visits(graph) == pytest.approx({0: 2 + 0.9 * 0.25 + 0.9 * 0.75, 1: 0.25, 2: 0.75, 3: 0})


def test_a_shortcut_counts_at_both_depths():
    graph = SearchGraph("abc", [("a", "b", 1.0), ("a", "c", 0.4), ("b", "c", 0.6)])
    assert visits(graph) == pytest.approx({"a": 1 + 0.4 + 0.6 * 0.9, "b": 0.6, "c": 0})


def test_a_contribution_below_the_threshold_is_dropped_but_a_parent_always_counts():
    graph = SearchGraph("abcd", [("a", "b", 1.0), ("b", "c", 0.001), ("c", "d", 0.1)])
    assert visits(graph) == pytest.approx({"a": 1 + 0.001 * 0.9, "b": 0.001, "c": 0.1, "d": 0}, abs=1e-15)
    tiny = SearchGraph("abc", [("a", "b", 1.0), ("b", "c", 1e-5)])
    assert visits(tiny) == {"a": 1, "b": 1e-5, "c": 0}


def test_ucb_adds_exploration_to_the_rank():
    graph = SearchGraph("abc", [("a", "b", 1.0), ("a", "c", 1.0)])
    bonus = 0.1 * np.sqrt(2)
    assert graph.ucb(["b", "a", "c"]) == [
        RankedDesign("b", 0.0, 1.0, 1 + bonus),
        RankedDesign("a", 2.0, 0.5, 0.5 + bonus / 3),
        RankedDesign("c", 0.0, 0.0, bonus),
    ]


def plain_visits(n, parents):
    """The rule as written: one queue a child."""
    counts = [0.0] * n
    for child in range(n):
        queue = deque()
        for parent, weight in parents[child]:
            counts[parent] += weight
            queue.append((parent, weight, 0))
        while queue:
            node, amount, depth = queue.popleft()
            for parent, weight in parents[node]:
                up = amount * weight * 0.9 ** (depth + 1)
                if up >= 1e-4:
                    counts[parent] += up
                    queue.append((parent, up, depth + 1))
    return counts


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 30), st.randoms(use_true_random=False))
def test_agrees_with_a_plain_walk_on_random_graphs(n, random):
    parents = []
    for child in range(n):
        chosen = random.sample(range(child), min(child, random.randint(0, 3)))
        shares = [random.random() + 0.01 for _ in chosen]
        parents.append([(parent, share / sum(shares)) for parent, share in zip(chosen, shares, strict=True)])
    names = random.sample(range(n), n)
    edges = [(names[parent], names[child], weight) for child in range(n) for parent, weight in parents[child]]
    graph = SearchGraph(range(n), edges)
    np.testing.assert_allclose(graph.visits[names], plain_visits(n, parents), rtol=1e-9)
