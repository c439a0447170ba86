"""Numbers drawn from what relatives scored: within their bounds, near what scored well, and the same for the
same seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.programs.search.numbers import Relative, numbers_in
from evolake.programs.search.tuning import FEWEST, tuned

TEXT = "# EVOLVE-BLOCK-START\ndef f():\n    return {a!r}, {b}\n# EVOLVE-BLOCK-END\n"
MARKED = "# EVOLVE-BLOCK-START\n#define A {a}  // EVOLVE-PARAM 1 64 int log\n# EVOLVE-BLOCK-END\n"


def relatives(count: int, score: Callable[[float, int], float]) -> list[Relative]:
    random = np.random.default_rng(5)
    points = [(round(float(random.uniform(0.1, 9)), 3), int(random.integers(1, 30))) for _ in range(count)]
    return [Relative({"p.py": TEXT.format(a=a, b=b)}, score(a, b)) for a, b in points]


def values(texts: dict[str, str]) -> list[float]:
    return [number.value for number in numbers_in(texts)]


@pytest.mark.parametrize("maximize", [True, False])
def test_what_is_drawn_lies_nearer_to_the_best_than_what_is_known(maximize: bool):
    def loss(a: float, b: float) -> float:
        return (a - 3) ** 2 + ((b - 12) / 4) ** 2

    known = relatives(30, lambda a, b: -loss(a, b) if maximize else loss(a, b))
    drawn = [tuned(known[0], known[1:], np.random.default_rng(seed), maximize=maximize) for seed in range(30)]
    result = [loss(*values(texts)) for texts in drawn if texts is not None]
    assert len(result) == 30 and np.median(result) < 0.5 * np.median([abs(item.score) for item in known])


@settings(max_examples=15, deadline=None)
@given(held=st.lists(st.integers(1, 64), min_size=FEWEST, max_size=12), seed=st.integers(0, 99))
def test_a_marked_number_stays_within_its_bounds(held: list[int], seed: int):
    known = [Relative({"k.c": MARKED.format(a=value)}, float(value)) for value in held]
    texts = tuned(known[0], known[1:], np.random.default_rng(seed), maximize=True)
    assert texts is not None
    [number] = numbers_in(texts)
    assert 1 <= number.value <= 64 and number.whole
