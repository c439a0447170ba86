"""Measures of programs: known ones have known values, broken ones none."""

import pytest
from families_fixtures import seed_family

from evolake.families.dataset.difficulty import complexity_row, measure
from evolake.families.tables import COMPLEXITY

NESTED = """
# a comment
def solution(inputs):
    '''Words.'''
    total = 0
    for row in inputs:
        for value in row:
            if value > 2 and value < 9:
                total += value

    return total
"""


def test_a_small_program_has_the_values_that_count_by_hand():
    result = measure(NESTED)
    assert result is not None
    # cyclomatic: 1, two loops, one if, one `and`; cognitive: 1 + 2 + 3 for the nesting, 1 for `and`
    assert {
        name: result[name]
        for name in ("loc", "cyclomatic", "cognitive", "loops", "loop_depth", "recursive", "time_class")
    } == {
        "loc": 7,
        "cyclomatic": 5,
        "cognitive": 7,
        "loops": 2,
        "loop_depth": 2,
        "recursive": False,
        "time_class": "O(n^2)",
    }
    assert result["halstead_effort"] == pytest.approx(
        result["halstead_volume"] * result["halstead_difficulty"]
    )


@pytest.mark.parametrize(
    ("source", "flag"),
    [
        (
            "def f(a, x):\n    low, high = 0, len(a)\n    while low < high:\n        mid = (low + high) "
            "// 2\n        low = mid + 1\n",
            "binary_search",
        ),
        ("def f(a):\n    return sorted(a)[0]\n", "sorting"),
        (
            "from functools import lru_cache\n@lru_cache(None)\ndef f(n):\n    return n\n",
            "dynamic_programming",
        ),
        ("def f(n):\n    dp = [0]\n    return dp[n]\n", "dynamic_programming"),
        ("def f(g):\n    visited = set()\n    return visited\n", "graph_traversal"),
        ("def f(a):\n    mid = len(a) // 2\n    return f(a[:mid]) + f(a[mid:])\n", "divide_and_conquer"),
    ],
)
def test_a_pattern_is_flagged_and_no_other(source, flag):
    result = measure(source)
    assert result is not None
    flags = ("binary_search", "sorting", "dynamic_programming", "graph_traversal", "divide_and_conquer")
    assert {name for name in flags if result[name]} == {flag}


def test_what_cannot_be_parsed_is_a_row_without_measures():
    family = seed_family("clinic-queue")
    assert measure("def f(:\n") is None
    assert measure("x = " + "(" * 300 + "1" + ")" * 300) is None
    assert measure("x = " + "-" * 400 + "1") is None  # parses, and is too deep for what recurses over it
    frame = COMPLEXITY.frame([complexity_row(family, "0001")])
    assert frame["parsed"].to_list() == [True]
    assert frame.null_count().sum_horizontal().item() == 0
