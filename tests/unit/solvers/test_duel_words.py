"""What is read of a duel: figures once, with their unit; and one sentence on why the best-ranked variant is
not champion."""

from __future__ import annotations

from typing import Any

import pytest

from evolake.solvers.report.duels import (
    bound_of,
    formulas_in_words,
    measured,
    outcome,
    sample_of,
    why_not_champion,
)


def duel(**other: Any) -> dict[str, Any]:
    """A row of DECISIONS."""
    return {
        "cycle": "0002",
        "champion_id": "old",
        "challenger_id": "new",
        "instances": 18,
        "formulas": 9,
        "pairs": 2,
        "left_out": 0,
        "solved_champion": 18.0,
        "solved_challenger": 18.0,
        "par2_champion": 0.42,
        "par2_challenger": 0.14,
        "ratio": 3.0,
        "ratio_low": 2.1,
        "ratio_high": 4.2,
        "noise_floor": 1.03,
        "wins": True,
        "verdict": "better",
        "reason": "a gain beyond the noise",
        "test": "flips",
    } | other


LOST = duel(
    ratio=1.1,
    ratio_low=0.9,
    ratio_high=1.3,
    par2_challenger=0.38,
    wins=False,
    verdict="undecided",
    reason="no gain beyond the noise",
)
WORDS = (
    "ratio 1.10 (95% interval 0.90 to 1.30), PAR-2 0.38 s against 0.42 s on 9 formulas × 2 shuffles, 2 "
    "pairs each, noise floor 1.03"
)


@pytest.mark.parametrize(
    ("instances", "formulas", "said"),
    [
        (9, 9, "9 formulas"),
        (18, 9, "9 formulas × 2 shuffles"),
        (13, 9, "9 formulas in 13 shuffles"),
        (1, 1, "1 formula"),
    ],
)
def test_copies_are_not_called_formulas(instances: int, formulas: int, said: str) -> None:
    assert formulas_in_words(duel(instances=instances, formulas=formulas)) == said


def test_a_side_that_hit_the_limit_makes_the_ratio_an_estimate() -> None:
    assert bound_of(duel()) == ""
    assert bound_of(duel(solved_champion=17.5)) == bound_of(duel(solved_challenger=17.5)) == "estimate"
    assert measured(duel(solved_champion=17.5)).startswith(
        "ratio an estimated 3.0 (95% interval 2.1 to 4.2), PAR-2 0.14 s against 0.42 s on"
    )


def test_the_ratio_is_said_once() -> None:
    assert outcome(LOST) == f"no gain beyond the noise; {WORDS}"


def test_an_interval_without_an_end_and_a_duel_without_any_are_said_as_they_are() -> None:
    assert measured(duel(ratio=1.8, ratio_low=0.6, ratio_high=float("inf"))).startswith(
        "ratio 1.8 (95% interval from 0.6 upwards), PAR-2"
    )
    few = duel(instances=3, formulas=3, ratio=1.8, ratio_low=0.0, ratio_high=float("inf"))
    assert measured(few).startswith("ratio 1.8, PAR-2 0.14 s against 0.42 s on 3 formulas")
    assert sample_of(duel(par2_champion=None, par2_challenger=None)).startswith("no PAR-2 on ")


@pytest.mark.parametrize(
    ("duels", "said"),
    [
        ([LOST], f"best did not become champion: no gain beyond the noise; {WORDS}"),
        (
            [LOST, duel(challenger_id="other", wins=False)],
            f"best did not become champion: no gain beyond the noise; {WORDS} (2 challengers in all, none "
            "won)",
        ),
        (
            [LOST, duel(challenger_id="other")],
            f"best did not become champion: no gain beyond the noise; {WORDS}",
        ),
        (
            [duel(), duel(challenger_id="other", ratio=4.0)],
            "best did not become champion: it won its duel too, by less than first; ratio 3.0",
        ),
        (
            [duel(cycle="0001", wins=False, champion_id="leader")],
            "best did not become champion: it did not win against first in cycle 0001, and has no second "
            "duel",
        ),
        (
            [duel(cycle="0001", champion_id="new", challenger_id="leader")],
            "best is champion no more: it lost the duel of cycle 0001",
        ),
        (
            [duel(challenger_id="leader")],
            "best did not become champion: it had no duel in this cycle, and first won one",
        ),
        ([], "best did not become champion: it had no duel in this cycle"),
    ],
)
def test_why_the_best_ranked_variant_is_not_champion_is_one_sentence(
    duels: list[dict[str, Any]], said: str
) -> None:
    best = {"variant_id": "new", "title": "best"}
    assert why_not_champion(best, "leader", "first", duels, "0002").startswith(said)
    assert why_not_champion(best, "new", "best", duels, "0002") == ""
