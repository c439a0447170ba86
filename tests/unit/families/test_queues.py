"""Queues: every rule against a table of its own."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from evolake.families.worlds.engine import Rule
from evolake.families.worlds.process_world import QUEUES, functions

PEOPLE = [(come, need, card) for come, (need, card) in enumerate(product((2, 4, 5, 7), (0, 1)), start=3)]
"""Minute of arrival, need, card; the first of them has number 1."""
NEXT: dict[str, Any] = {
    "first": lambda line, minute: line[0],
    "last": lambda line, minute: line[-1],
    "short": lambda line, minute: next(i for need in range(9) for i in line if PEOPLE[i][1] == need),
    "long": lambda line, minute: next(i for need in range(9, 0, -1) for i in line if PEOPLE[i][1] == need),
    "priority": lambda line, minute: [*(i for i in line if PEOPLE[i][2]), *line][0],
    "common": lambda line, minute: [*(i for i in line if not PEOPLE[i][2]), *line][0],
    "swing": lambda line, minute: line[0] if minute in (7, 9) else line[-1],
    "odd": lambda line, minute: [*(i for i in line if i + 1 in (1, 3, 5, 7)), *line][0],
}
"""Rule -> who is called, as its sentence says it. line: places in PEOPLE, in the order of arrival."""
LEAVE: dict[str, Any] = {
    "stay": lambda k, need, card, result, waited: False,
    "patience": lambda k, need, card, result, waited: waited == k,
    "eager": lambda k, need, card, line, waited: waited == k and card == 0,
    "full": lambda k, need, card, line, waited: waited < 0 and line >= k,
    "picky": lambda k, need, card, result, waited: waited < 0 and result >= k and card == 0,
    "hasty": lambda k, need, card, result, waited: waited < 0 and result >= 1 and need > k,
}
"""Rule -> whether somebody goes away: on arriving (waited -1), or at the end of a minute."""
PACE: dict[str, Any] = {
    "exact": lambda k, need, card, minute, waited: (need, 0),
    "breaks": lambda k, need, card, minute, waited: (need, k),
    "hurry": lambda k, need, card, minute, waited: (need if waited <= k else need - 1, 0),
    "favour": lambda k, need, card, minute, waited: (need - 1 if card else need, 0),
    "tired": lambda k, need, card, minute, waited: (need if minute < k else need + 1, 0),
    "cut": lambda k, need, card, minute, waited: (sorted((need, k))[0], 0),
}
"""Rule -> minutes of a service, minutes closed after it."""


def engines(chosen: Rule) -> tuple[Any, Any, Any]:
    space: dict[str, Any] = {"np": np, "FOREVER": 10**6}
    point = next(point for point, rules in QUEUES.rules.items() if chosen in rules)
    exec(f"def run({QUEUES.process['heads'][point][0]}):\n    return {chosen.run}\n", space)
    result = [space["run"]]
    for meaning in ("table", "relation"):
        exec(functions(QUEUES, {point: [chosen]}, meaning), space)
        result.append(space[chosen.name])
    return result[0], result[1], result[2]


def persons() -> list[dict[str, int]]:
    return [
        {"number": number, "come": come, "need": need, "card": card}
        for number, (come, need, card) in enumerate(PEOPLE, start=1)
    ]


@pytest.mark.parametrize("chosen", QUEUES.rules["next"], ids=lambda item: item.name)
def test_who_is_called_next_is_in_every_engine_who_the_sentence_says(chosen):
    run, table, relation = engines(chosen)
    _, need, card = np.array(PEOPLE).T
    for minute, size in product((7, 8, 9, 10), (1, 2, 3, 5, 8)):
        for start in range(len(PEOPLE) - size + 1):
            line = list(range(start, start + size))
            wanted = NEXT[chosen.name](line, minute)
            assert (
                min((persons()[i] for i in line), key=lambda c, minute=minute: run(c, minute))["number"] - 1
                == wanted
            )
            assert table(np.array(line), minute, need, card) == wanted
            assert [i for i in line if all(relation(i, j, minute, PEOPLE) for j in line if j != i)] == [
                wanted
            ]
            assert all(
                relation(i, j, minute, PEOPLE) != relation(j, i, minute, PEOPLE)
                for i, j in permutations(line, 2)
            )


@pytest.mark.parametrize("chosen", QUEUES.rules["leave"], ids=lambda item: item.name)
def test_who_goes_away_is_in_every_engine_who_the_sentence_says(chosen):
    run, table, relation = engines(chosen)
    latest, borne = (np.broadcast_to(column, len(PEOPLE)) for column in table(*np.array(PEOPLE).T))
    gone = 0
    for c, last, most in zip(persons(), latest, borne, strict=True):
        for number in range(7):
            wanted = LEAVE[chosen.kind](chosen.amount, c["need"], c["card"], number, -1)
            gone += wanted
            assert [
                bool(run(c, number, None)),
                bool(relation(-1, number, c["need"], c["card"])),
                number > most,
            ] == [wanted] * 3
        stays = [
            not LEAVE[chosen.kind](chosen.amount, c["need"], c["card"], 0, waited) for waited in range(9)
        ]
        gone += not all(stays)
        first = stays.index(False) if False in stays else 9
        for waited in range(first + 1):
            there = [
                not run(c, 0, waited),
                not relation(waited, 0, c["need"], c["card"]),
                waited < last - c["come"],
            ]
            assert there == [waited < first or all(stays)] * 3
    assert (gone > 0) == (chosen.name != "stay")


@pytest.mark.parametrize("chosen", QUEUES.rules["pace"], ids=lambda item: item.name)
def test_a_service_lasts_in_every_engine_what_the_sentence_says(chosen):
    run, table, relation = engines(chosen)
    come, need, card = np.array(PEOPLE).T
    for c, waited in product(persons(), range(7)):
        minute = c["come"] + waited
        wanted = PACE[chosen.kind](chosen.amount, c["need"], c["card"], minute, waited)
        assert tuple(map(int, run(c, minute))) == wanted
        assert tuple(map(int, table(c["number"] - 1, minute, come, need, card))) == wanted
        allowed = [
            pair
            for pair in product(range(1, 12), range(5))
            if relation(*pair, minute, waited, c["need"], c["card"])
        ]
        assert allowed == [wanted]


def test_there_is_a_table_for_every_rule():
    assert {item.kind for item in QUEUES.alternatives} == {*NEXT, *LEAVE, *PACE}
