"""Rows of tiles, plans of days, picks from a row: any one right answer is asked for.

An answer is judged rule by rule; to find one, rows and plans are built up step by step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from evolake.families.text_solver.language import Meaning, Reader, Unanswerable, Unreadable, known, read_kind
from evolake.families.text_solver.search import Budget, Clue, assignments

MOST_CARDS = 16
Tile = tuple[int, int]


def read(text: str) -> Meaning:
    """Return the meaning of a text about a row, a plan or a pick; raise Unreadable otherwise."""
    return read_kind("rows", {"chain": _chain, "days": _days, "cards": _cards}, text)


def _first(found: Iterator[Any]) -> Any:
    for one in found:
        return one
    raise Unanswerable("nothing fits everything that is said")


def _chain(reader: Reader, tables: dict[str, Any]) -> Meaning:
    reader.take(*tables["opening"])
    tiles: dict[str, Tile] = {}
    while (found := reader.maybe("- {One} {a} has {k} and {l}.")) is not None:
        if found["a"] in tiles or len(found["a"]) != 1:
            raise Unreadable(f"not a letter of its own: {found['a']}")
        tiles[found["a"]] = found["k"], found["l"]
    reader.take("All of them are laid in one row from left to right.")
    reader.take("These rules hold:")
    touch, values = reader.choose(tables["touch"], "- ")
    lie, _ = reader.choose(tables["lie"], "- ")
    form = reader.question(tables["questions"])[0]

    def touches(one: int, other: int) -> bool:
        return TOUCHES[touch](one, other, **values)

    def find() -> Any:
        row = _first(_rows(tiles, lie, touches))
        if form == "letters":
            return "".join(letter for letter, _ in row)
        return [number for _, tile in row for number in tile]

    def fault(answer: Any) -> str:
        judge = _letters_fault if form == "letters" else _numbers_fault
        return judge(answer, tiles, lie, touches)

    return Meaning(find, fault, reader.chosen)


TOUCHES: dict[str, Callable[..., bool]] = {
    "equal": lambda one, other: one == other,
    "sum": lambda one, other, k: one + other == k,
    "differ": lambda one, other, k: abs(one - other) == k,
}


def _ways(tile: Tile, lie: str) -> list[Tile]:
    """Return how a tile may lie, as the numbers on its left and its right."""
    ways = {"left": [tile], "right": [tile[::-1]], "either": [tile, tile[::-1]]}
    return ways[lie]


def _rows(
    tiles: dict[str, Tile], lie: str, touches: Callable[[int, int], bool]
) -> Iterator[list[tuple[str, Tile]]]:
    budget = Budget()

    def extend(row: list[tuple[str, Tile]]) -> Iterator[list[tuple[str, Tile]]]:
        if len(row) == len(tiles):
            yield row
        laid = {letter for letter, _ in row}
        for letter in sorted(tiles.keys() - laid):
            for way in _ways(tiles[letter], lie):
                budget.spend()
                if not row or touches(row[-1][1][1], way[0]):
                    yield from extend([*row, (letter, way)])

    yield from extend([])


def _letters_fault(answer: Any, tiles: dict[str, Tile], lie: str, touches: Callable) -> str:
    if not isinstance(answer, str) or sorted(answer) != sorted(tiles):
        return "not a word of each letter once"
    ends = {way[1] for way in _ways(tiles[answer[0]], lie)}
    for letter in answer[1:]:
        ways = _ways(tiles[letter], lie)
        ends = {way[1] for way in ways if any(touches(end, way[0]) for end in ends)}
    return "" if ends else "numbers at which neighbours touch break the rule"


def _numbers_fault(answer: Any, tiles: dict[str, Tile], lie: str, touches: Callable) -> str:
    if not _whole_numbers(answer) or len(answer) != 2 * len(tiles):
        return "not a list of two whole numbers for each"
    laid = list(zip(answer[::2], answer[1::2], strict=True))
    if not all(touches(one[1], other[0]) for one, other in pairwise(laid)):
        return "numbers at which neighbours touch break the rule"
    form = sorted if lie == "either" else list
    wanted = Counter(tuple(form(_ways(tile, lie)[0])) for tile in tiles.values())
    if Counter(tuple(form(tile)) for tile in laid) != wanted:
        return "not the numbers of all of them"
    return ""


def _whole_numbers(answer: Any) -> bool:
    return isinstance(answer, list) and all(type(number) is int for number in answer)


def _days(reader: Reader, tables: dict[str, Any]) -> Meaning:
    names = reader.take("A plan puts each of these {one}s on one day: {list}.")["list"]
    last = reader.take("The days are numbered from 1 to {k}.")["k"]
    if len(set(names)) < len(names) or last > 100:
        raise Unreadable("a name stands twice, or too many days")
    reader.take("These pairs share {share}:")
    pairs = []
    while (found := reader.maybe("- {a} and {b}.")) is not None:
        pairs.append((known(names, found)["a"], found["b"]))
    reader.take("The plan keeps two rules:")
    rule, _ = reader.choose(tables["pairs"], "- ")
    whole, _ = reader.choose(tables["whole"], "- ")
    form = reader.question(tables["questions"])[0]
    clues = [Clue(pair, PAIRS[rule]) for pair in pairs]
    clues.append(Clue(tuple(names), lambda *days: WHOLE[whole](days, last)))

    def find() -> Any:
        plan = _first(assignments(names, range(1, last + 1), clues, distinct=False))
        return plan if form == "mapping" else list(plan.values())

    def fault(answer: Any) -> str:
        plan = _plan(answer, form, names)
        if plan is None or not all(1 <= day <= last for day in plan.values()):
            return "not one day of the plan for each"
        broken = [clue for clue in clues if not clue.true_in(plan)]
        return f"a rule is broken for {', '.join(broken[0].scope)}" if broken else ""

    return Meaning(find, fault, reader.chosen)


def _plan(answer: Any, form: str, names: list[str]) -> dict[str, int] | None:
    """Return an answer as a mapping from names to whole numbers, or None if it is none."""
    if form == "mapping":
        if not isinstance(answer, dict) or set(answer) != set(names):
            return None
        answer = [answer[name] for name in names]
    if not _whole_numbers(answer) or len(answer) != len(names):
        return None
    return dict(zip(names, answer, strict=True))


PAIRS: dict[str, Callable[[int, int], bool]] = {
    "distinct": lambda one, other: one != other,
    "apart": lambda one, other: abs(one - other) >= 2,
    "earlier": lambda one, other: one < other,
}
WHOLE: dict[str, Callable[[tuple[int, ...], int], bool]] = {
    "each_day": lambda days, last: len(set(days)) == last,
    "three": lambda days, last: max(Counter(days).values()) <= 3,
    "ends": lambda days, last: days.count(1) == days.count(last),
}


def _cards(reader: Reader, tables: dict[str, Any]) -> Meaning:
    row = reader.take("In a row lie {one}s with these {number}s, from left to right: {numbers}.")["numbers"]
    if len(row) > MOST_CARDS:
        raise Unreadable(f"too large: {len(row)} in the row")
    total = reader.take(
        "Some of them are picked, so that the sum of the {number}s of the picked {one}s is {k}."
    )["k"]
    reader.take("Two rules hold:")
    rules = [name for name, _ in reader.items(tables["rules"])]
    if len(rules) != 2:
        raise Unreadable(f"two rules are announced, {len(rules)} stand there")
    form = reader.question(tables["questions"])[0]

    def answers() -> Iterator[list[int]]:
        for picks in range(1, 1 << len(row)):
            places = [place for place in range(1, len(row) + 1) if picks >> (place - 1) & 1]
            if sum(row[place - 1] for place in places) == total and all(
                RULES[rule](places, len(row)) for rule in rules
            ):
                yield places if form == "places" else [row[place - 1] for place in places]

    def fault(answer: Any) -> str:
        fits = _whole_numbers(answer) and answer in answers()
        return "" if fits else "no choice that fits everything that is said"

    return Meaning(lambda: _first(answers()), fault, reader.chosen)


def _next_to(place: int, places: list[int]) -> bool:
    return place - 1 in places or place + 1 in places


RULES: dict[str, Callable[[list[int], int], bool]] = {
    "neighbour": lambda places, size: all(_next_to(place, places) for place in places),
    "apart": lambda places, size: not any(_next_to(place, places) for place in places),
    "one_end": lambda places, size: (1 in places) != (size in places),
    "five": lambda places, size: len(places) <= 5,
    "even": lambda places, size: len(places) % 2 == 0,
    "odd": lambda places, size: len(places) % 2 == 1,
}
