"""Kinds of which something is to be made, in one of many right ways: signs, places of guards, moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from evolake.families.text_solver.language import Meaning, Reader, Unanswerable, Unreadable, read_kind
from evolake.families.text_solver.search import Budget

MOST_GAPS, MOST_ROWS, MOST_DISCS = 9, 12, 7
Piles = tuple[tuple[int, ...], ...]


def read(text: str) -> Meaning:
    """Return the meaning of a text of one of these kinds; raise Unreadable with what has none."""
    return read_kind("made", KINDS, text)


def _first(found: Iterator[Any]) -> Any:
    for one in found:
        return one
    raise Unanswerable("nothing fits everything that is said")


def _signs(reader: Reader, tables: dict[str, Any]) -> Meaning:
    numbers = reader.take(tables["numbers"])["numbers"]
    found = reader.take(*tables["result"])
    result = found["k"] if "k" in found else -found["m"]
    reader.take(tables["hold"])
    first, use = (reader.choose(tables[kind], "- ")[0] for kind in ("first", "use"))
    name, _ = reader.question(tables["questions"])
    if len(numbers) - 1 > MOST_GAPS:
        raise Unreadable(f"too large: {len(numbers)} numbers")
    words = {"P": "plus", "M": "minus", "T": "times"}

    def fits(signs: Sequence[str]) -> bool:
        plus, minus = signs.count("plus"), signs.count("minus")
        kept = {"more": plus > minus, "fewer": plus < minus, "same": plus == minus and plus > 0}[use]
        return kept and _value(numbers, list(signs), first) == result

    def find() -> Any:
        signs = _first(filter(fits, product(words.values(), repeat=len(numbers) - 1)))
        return "".join(one[0].upper() for one in signs) if name == "letters" else list(signs)

    def fault(answer: Any) -> str:
        form = str if name == "letters" else list
        signs = [words.get(one, "") for one in answer] if form is str and isinstance(answer, str) else answer
        if not isinstance(answer, form) or len(answer) != len(numbers) - 1:
            return "not a sign for each gap"
        if any(sign not in words.values() for sign in signs):
            return "another sign than plus, minus and times"
        return "" if fits(signs) else "another result, or a rule about the signs is broken"

    return Meaning(find, fault, reader.chosen)


def _value(numbers: list[int], signs: list[str], first: str) -> int:
    """Return the result, by taking pairs of neighbours together."""
    left = list(numbers)
    while signs:
        at = len(signs) - 1 if first == "right" else 0
        if first == "times" and "times" in signs:
            at = signs.index("times")
        one, other = left[at], left.pop(at + 1)
        left[at] = {"plus": one + other, "minus": one - other, "times": one * other}[signs.pop(at)]
    return left[0]


def _guards(reader: Reader, tables: dict[str, Any]) -> Meaning:
    size = reader.take(tables["size"])["k"]
    for sentence in tables["field"]:
        reader.take(sentence)
    blocked = [reader.take(*tables["row"]) for _ in range(min(size, MOST_ROWS))]
    for sentence in tables["free"]:
        reader.take(sentence)
    sight, pair = (reader.choose(tables[kind], "- ")[0] for kind in ("sight", "pair"))
    name, _ = reader.question(tables["questions"])
    if [row["k"] for row in blocked] != list(range(1, size + 1)) or size < 2:
        raise Unreadable("the rows are not numbered one after another, or too many")
    free = [
        [column for column in range(1, size + 1) if column not in row.get("numbers", [])] for row in blocked
    ]
    budget = Budget()

    def sees(places: list[int]) -> bool:
        """Return whether the last row's breaks the rule, with those above."""
        row, column = len(places) - 1, places[-1]
        gaps = [(row - above, abs(column - other)) for above, other in enumerate(places[:-1])]
        if sight == "touch":
            return row > 0 and gaps[-1][1] != 1 and (row == 1 or abs(places[-2] - places[-3]) != 1)
        return any(gap in ((1, 2), (2, 1)) if sight == "jump" else gap[0] == gap[1] for gap in gaps)

    def whole(places: list[int]) -> bool:
        alone = sight == "touch" and abs(places[-1] - places[-2]) != 1
        return not alone and (places[0] < places[-1]) == (pair == "left")

    def rows(places: list[int]) -> Iterator[list[int]]:
        budget.spend()
        if len(places) == size:
            if whole(places):
                yield places
            return
        for column in free[len(places)]:
            if column not in places and not sees([*places, column]):
                yield from rows([*places, column])

    def find() -> Any:
        places = _first(rows([]))
        if name == "list":
            return places
        return {str(column): places.index(column) + 1 for column in range(1, size + 1)}

    def fault(answer: Any) -> str:
        places = answer
        if name == "mapping":
            if not isinstance(answer, dict) or set(answer) != set(map(str, range(1, size + 1))):
                return "not a row for each column"
            at = {row: int(column) for column, row in answer.items() if type(row) is int}
            places = [at.get(row, 0) for row in range(1, size + 1)]
        if not isinstance(places, list) or any(type(column) is not int for column in places):
            return "not a number for each"
        if sorted(places) != list(range(1, size + 1)):
            return "not one in each row and column"
        if any(column not in row for column, row in zip(places, free, strict=True)):
            return "one is on a blocked square"
        seen = any(sees(places[:end]) for end in range(1, size + 1))
        return "" if not seen and whole(places) else "a rule is broken"

    return Meaning(find, fault, reader.chosen)


def _discs(reader: Reader, tables: dict[str, Any]) -> Meaning:
    def piles() -> Piles:
        found = [reader.take(*tables["peg"]) for _ in "ABC"]
        if [peg["a"] for peg in found] != list("ABC"):
            raise Unreadable("not the pegs A, B and C")
        return tuple(tuple(peg.get("numbers", ())) for peg in found)

    start = piles()
    reader.take(tables["end"])
    goal = piles()
    reader.take(tables["move"])
    most = reader.take(tables["most"])["k"]
    reader.take(tables["hold"])
    way, stack = (reader.choose(tables[kind], "- ")[0] for kind in ("way", "stack"))
    name, _ = reader.question(tables["questions"])
    discs = sorted(disc for pile in start for disc in pile)
    if discs != list(range(1, len(discs) + 1)) or discs != sorted(disc for pile in goal for disc in pile):
        raise Unreadable("not the same discs, each once")
    if len(discs) > MOST_DISCS:
        raise Unreadable(f"too large: {len(discs)} discs")
    ways = {"next": ["AB", "BA", "BC", "CB"], "round": ["AB", "BC", "CA"]}[way]

    def after(state: Piles, move: str) -> Piles | None:
        """Return the state after a move, None if it is not allowed."""
        here, there = ("ABC".index(peg) for peg in move)
        if move not in ways or not state[here]:
            return None
        disc, below = state[here][-1], state[there][-1:]
        if below and not STACKS[stack](disc, below[0]):
            return None
        changed = {here: state[here][:-1], there: (*state[there], disc)}
        return tuple(changed.get(peg, pile) for peg, pile in enumerate(state))

    def find() -> Any:
        found, edge, budget = {start: ""}, [start], Budget()
        for state in edge:
            if state == goal:
                break
            for move in ways:
                budget.spend()
                new = after(state, move)
                if new is not None and new not in found:
                    found[new] = found[state] + move
                    edge.append(new)
        word = found.get(goal)
        if word is None or len(word) > 2 * most:
            raise Unanswerable("it cannot be done in so many moves")
        return word if name == "word" else _pairs(word)

    def fault(answer: Any) -> str:
        moves = answer
        if name == "word":
            if not isinstance(answer, str) or len(answer) % 2:
                return "not a word of two letters for each move"
            moves = _pairs(answer)
        if not isinstance(moves, list) or len(moves) > most:
            return "no list of moves, or too many of them"
        state: Piles | None = start
        for move in moves:
            if not isinstance(move, str) or len(move) != 2 or set(move) - set("ABC"):
                return "not two letters of pegs for each move"
            state = after(state, move)
            if state is None:
                return f"a move that is not allowed: {move}"
        return "" if state == goal else "another end"

    return Meaning(find, fault, reader.chosen)


def _pairs(word: str) -> list[str]:
    return [word[at : at + 2] for at in range(0, len(word), 2)]


STACKS: dict[str, Callable[[int, int], bool]] = {
    "size": lambda disc, below: disc < below,
    "parity": lambda disc, below: disc % 2 != below % 2,
    "gap": lambda disc, below: abs(disc - below) != 1,
}
KINDS: dict[str, Callable[[Reader, dict[str, Any]], Meaning]] = {
    "signs": _signs,
    "guards": _guards,
    "discs": _discs,
}
