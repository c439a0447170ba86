"""Duels: a gain that the draw of problems explains is none; one beyond it takes the title."""

import numpy as np

from evolake.prompts.evolution.prompt_contest import decide_champion
from evolake.prompts.tables import DECISIONS


def fought(champion: list[list[bool]], challenger: list[list[bool]]) -> dict:
    correct = {("champion", f"q{place}"): result for place, result in enumerate(champion)}
    correct |= {("challenger", f"q{place}"): result for place, result in enumerate(challenger)}
    return decide_champion("champion", "challenger", correct, np.random.default_rng(0), cycle="0002")


def test_a_clear_gain_wins():
    row = fought([[False]] * 30 + [[True]] * 10, [[True]] * 40)
    assert DECISIONS.frame([row]).to_dicts() == [row]
    assert (row["wins"], row["champion_share"], row["challenger_share"], row["difference"]) == (
        True,
        0.25,
        1.0,
        0.75,
    )
    assert row["low"] > 0
    assert (row["problems"], row["samples"]) == (40, 40)


def test_equals_do_not_win_and_a_loss_does_not():
    assert not fought([[True], [False]] * 5, [[True], [False]] * 5)["wins"]
    assert not fought([[True]] * 20, [[False]] * 20)["wins"]
