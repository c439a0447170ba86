"""Groups: who goes to which of a few numbered places that hold several, from clues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from evolake.families.text_solver.language import Meaning, Unreadable, known, opened, table
from evolake.families.text_solver.puzzles import asked
from evolake.families.text_solver.search import Clue, assignments

MOST_NAMES = 10


def read(text: str) -> Meaning:
    """Return the meaning of a text about groups; raise Unreadable with what has none."""
    reader, values, setting = opened("groups", text)
    names, last, room = values["list"], values["n"], values["m"]
    if not len(set(names)) == len(names) <= MOST_NAMES or last > 9:
        raise Unreadable("a name stands twice, or too many")
    those = setting["those"]
    reader.words = setting | {
        "In": setting["in"].capitalize(),
        "Place": setting["place"].capitalize(),
        "Those": those[0].upper() + those[1:],
        "be": setting["are"],
    }
    marked = tuple(known(names, reader.take("Of the {all}, {list} {marked}."))["list"])
    tables = table("groups")
    clues = [Clue(tuple(names), lambda *places: max(Counter(places).values()) <= room)]
    rule = reader.maybe_choose(tables["rules"])
    if rule is not None:
        meant, numbers = MARKED[rule[0]], rule[1]
        clues.append(Clue(marked, lambda *places: meant(places, **numbers)))
    reader.take("This is known:")
    clues += [_clue(names, *item) for item in reader.items(tables["clues"])]
    question = asked(reader, tables["questions"], names, lambda *item: _clue(names, *item), tables["clues"])

    def find() -> Any:
        return question(list(assignments(names, range(1, last + 1), clues, distinct=False)))

    return Meaning(find, rules=reader.chosen)


def _clue(names: list[str], meaning: str, values: dict[str, Any]) -> Clue:
    known(names, values)
    scope = [values[place] for place in "abc" if place in values]
    if len(set(scope)) < len(scope):
        raise Unreadable(f"a name is compared with itself: {scope[0]}")
    numbers = {place: values[place] for place in "km" if place in values}
    if meaning in ALL:
        others = [name for name in names if name not in scope]
        return Clue((*scope, *others), lambda *places: ALL[meaning](places, **numbers))
    return Clue(tuple(scope), lambda *places: SINGLE[meaning](*places, **numbers))


MARKED: dict[str, Callable[..., bool]] = {
    "each_with": lambda places: min(Counter(places).values()) > 1,
    "some_at": lambda places, k: k in places,
    "none_at": lambda places, k: k not in places,
    "distinct": lambda places: len(set(places)) == len(places),
    "not_together": lambda places: len(set(places)) > 1,
}
ALL: dict[str, Callable[..., bool]] = {
    "least_at": lambda places, k, m: places.count(m) >= k,
    "exactly_at": lambda places, k, m: places.count(m) == k,
    "nobody_at": lambda places, m: m not in places,
    "more_at": lambda places, k, m: places.count(k) > places.count(m),
    "alone": lambda places: places.count(places[0]) == 1,
    "not_alone": lambda places: places.count(places[0]) > 1,
}
SINGLE: dict[str, Callable[..., bool]] = {
    "if_at": lambda a, b, k, m: a != k or b == m,
    "if_together": lambda a, b, c: a != b or c == a,
    "not_at": lambda a, k: a != k,
    "at": lambda a, k: a == k,
    "different": lambda a, b: a != b,
    "same": lambda a, b: a == b,
    "with_one": lambda a, b, c: c in {a, b},
    "less": lambda a, b: a < b,
    "differ_one": lambda a, b: abs(a - b) == 1,
    "not_together": lambda a, b, c: not a == b == c,
}
