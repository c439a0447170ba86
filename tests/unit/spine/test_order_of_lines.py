"""In which order lines that run at the same time start."""

from __future__ import annotations

import pytest

from pipelines.side_by_side import order_of

WEIGHTS = {"designs": 2, "families": 2, "programs": 1, "prompts": 3, "solvers": 4}


@pytest.mark.parametrize(
    ("after", "order"),
    [
        ({}, ["solvers", "programs", "prompts", "designs", "families"]),
        ({"prompts": ["families"]}, ["families", "programs", "solvers", "prompts", "designs"]),
        (
            {"prompts": ["families"], "designs": ["families"]},
            ["families", "programs", "solvers", "prompts", "designs"],
        ),
    ],
)
def test_the_heaviest_starts_first_and_a_line_counts_with_what_waits_for_it(
    after: dict[str, list[str]], order: list[str]
):
    assert order_of(WEIGHTS, after) == order


def test_one_line_is_an_order():
    assert order_of({"designs": 2}) == ["designs"]
