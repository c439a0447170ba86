"""The first by consensus beside the champion: the reason where they differ."""

from __future__ import annotations

import pytest

from evolake.designs.evolution.attempts import consensus_winner
from evolake.designs.evolution.population import empty_population

FIRST, CHAMPION = "a" * 64, "b" * 64
RANKING = [
    {"design_id": CHAMPION, "rank": 2},
    {"design_id": FIRST, "rank": 1},
    {"design_id": "c" * 64, "rank": 3},
]


def archive(state: str = "accepted", reason: str | None = None):
    rows = [(FIRST, state, reason), (CHAMPION, "champion", None)]
    return empty_population().admit(
        [
            {
                "design_id": name,
                "state": now,
                "reason": why,
                "cycle": "0001",
                "title": f"title {name[0]}",
                "origin": "seed",
                "operator": "seed",
                "tuned": False,
            }
            for name, now, why in rows
        ],
        [],
    )


def decision(ratio: float, floor: float, wins: bool = False) -> dict:
    duel = {
        "comparison": "incumbent",
        "challenger_id": FIRST,
        "ratio": ratio,
        "ratio_high": ratio * floor,
        "noise_floor": floor,
    }
    return duel | {"wins": wins, "reason": "as measured"}


def test_the_champion_that_is_first_is_said_to_be() -> None:
    result = consensus_winner(archive(), RANKING, [], FIRST)
    assert (result.design_id, result.same, result.reason) == (
        FIRST,
        True,
        "The consensus has the champion first.",
    )


@pytest.mark.parametrize(
    ("decisions", "said"),
    [
        ([decision(0.5, 1.2)], "It lost the duel: as measured"),
        ([decision(1.1, 1.2)], "The duel did not tell them apart beyond the noise"),
        ([decision(0.9, 1.2)], "The duel did not tell them apart beyond the noise"),
        ([decision(2.0, 1.2, wins=True)], "It won its duel and has lost the title since"),
        ([], "It has not met the champion on fresh seeds in this cycle"),
        (
            [decision(2.0, 1.2) | {"comparison": "baseline"}],
            "It has not met the champion on fresh seeds in this cycle",
        ),
    ],
)
def test_where_they_differ_the_duel_says_why(decisions: list[dict], said: str) -> None:
    result = consensus_winner(archive(), RANKING, decisions, CHAMPION)
    assert (result.design_id, result.title, result.same) == (FIRST, "title a", False)
    assert result.reason.startswith(said) and result.reason.endswith(
        "The consensus has the champion at place 2 of 3."
    )


def test_what_is_blocked_since_is_said_to_be() -> None:
    result = consensus_winner(
        archive("blocked", "contract: it raised"), RANKING, [decision(0.5, 1.2)], CHAMPION
    )
    assert "It is blocked now: contract: it raised. " in result.reason
