"""Which proofs are checked: by a key that is kept, by chance for whoever has no key, and as often as the
formula says."""

from __future__ import annotations

import pytest

from evolake.settings import load, profile_names
from evolake.solvers.proof.checking import is_drawn, key_for, new_key

CYCLES = 20_000


def test_the_same_key_draws_the_same_and_another_draws_otherwise() -> None:
    key = key_for(b"k" * 32, "solvers", "0001", "benchmark")
    drawn = [is_drawn(key, str(number), 0, 0.3) for number in range(2000)]
    assert drawn == [
        is_drawn(key_for(b"k" * 32, "solvers", "0001", "benchmark"), str(number), 0, 0.3)
        for number in range(2000)
    ]
    assert 0.25 < sum(drawn) / 2000 < 0.35
    for other in (
        key_for(b"k" * 32, "solvers", "0002", "benchmark"),
        key_for(b"l" * 32, "solvers", "0001", "benchmark"),
    ):
        agree = sum(item == is_drawn(other, str(number), 0, 0.3) for number, item in enumerate(drawn)) / 2000
        assert 0.5 < agree < 0.66  # 0.3 ** 2 + 0.7 ** 2 = 0.58 by chance
    assert all(is_drawn(new_key(), str(number), 0, 1.0) for number in range(1000))
    assert not any(is_drawn(new_key(), str(number), 0, 0.0) for number in range(1000))


@pytest.mark.parametrize(
    ("shares", "chance"),
    [([0.25], 0.75), ([0.25, 0.25], 0.5625), ([0.25, 1.0], 0.0), ([0.5] * 7, 1 / 128), ([], 1.0)],
)
def test_a_guess_goes_unseen_as_often_as_the_formula_says(shares: list[float], chance: float) -> None:
    unseen = sum(
        not any(is_drawn(key, f"formula {run}", 0, share) for run, share in enumerate(shares))
        for key in (new_key() for _ in range(CYCLES))
    )
    assert unseen / CYCLES == pytest.approx(chance, abs=0.02)


@pytest.mark.parametrize("profile", profile_names())
def test_no_profile_lets_a_guess_pass_unseen_in_a_run_that_counts(profile: str) -> None:
    assert 1 - load(profile).solvers.proof_share < 0.01
