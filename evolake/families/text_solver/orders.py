"""Orders: who has which number in a row or a circle, from clues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evolake.families.text_solver.language import Meaning, Unreadable, known, opened, table
from evolake.families.text_solver.puzzles import asked
from evolake.families.text_solver.search import Clue, assignments


def read(text: str) -> Meaning:
    """Return the meaning of a text about an order; raise Unreadable with what has none."""
    reader, values, setting = opened("orders", text)
    names = values["list"]
    if len(set(names)) != len(names) or len(names) < 2:
        raise Unreadable("a name is named twice")
    reader.words = _words(setting)
    marked = known(names, reader.take("Of the {all}, {list} {marked}."))["list"]
    order = _Order(len(names), bool(setting.get("circle")), tuple(marked))
    tables = table("orders")
    clues = []
    rule = reader.maybe_choose(tables["rules"])
    if rule is not None:
        clues.append(order.rule(*rule))
    reader.take("This is known:")
    clues += [order.clue(names, *item) for item in reader.items(tables["clues"])]

    def find() -> Any:
        found = assignments(names, range(1, len(names) + 1), clues, distinct=True)
        return question(list(found))

    question = asked(
        reader, tables["questions"], names, lambda *item: order.clue(names, *item), tables["clues"]
    )
    return Meaning(find, rules=reader.chosen)


def _words(setting: dict[str, Any]) -> dict[str, Any]:
    words = {"nobody": "nobody", "Nobody": "Nobody"} | setting
    words["Place"] = setting["place"].capitalize()
    words["Those"] = setting["those"][0].upper() + setting["those"][1:]
    return words


class _Order:
    """What sentences mean for `size` numbered places, in a circle or a row, and the names that
    carry the mark."""

    def __init__(self, size: int, circle: bool, marked: tuple[str, ...]):
        self.size, self.circle, self.marked = size, circle, marked

    def clue(self, names: list[str], meaning: str, values: dict[str, Any]) -> Clue:
        """Return the clue of a sentence about single names."""
        known(names, values)
        scope = [place for place in "abcd" if place in values]
        if len({values[place] for place in scope}) < len(scope) and meaning != "if_before":
            raise Unreadable(f"a name is compared with itself: {values['a']}")
        numbers = {place: value for place, value in values.items() if place not in scope}
        meant: Callable[..., bool] = getattr(self, f"is_{meaning}")
        return Clue(
            tuple(values[place] for place in scope),
            lambda *places: meant(**dict(zip(scope, places, strict=True)), **numbers),
        )

    def rule(self, meaning: str, values: dict[str, Any]) -> Clue:
        """Return the clue of a sentence about all the marked names."""
        meant: Callable[..., bool] = getattr(self, f"all_{meaning}")
        return Clue(self.marked, lambda *places: meant(places, *values.values()))

    def is_sum(self, a, b, k):
        return a + b == k

    def is_some_after(self, a, b, c):
        return a > c or b > c

    def is_far(self, a, b):
        return abs(a - b) >= 2

    def is_apart(self, a, b, k):
        return abs(a - b) == k + 1

    def is_both_after(self, a, b, c):
        return a > c and b > c

    def is_same_parity(self, a, b):
        return (a - b) % 2 == 0

    def is_split_at(self, a, b, k):
        return (a <= k) != (b <= k)

    def is_clockwise(self, a, b, k):
        return (a - b - k) % self.size == 0

    def is_clockwise_within(self, a, b, k):
        return (a - b) % self.size <= k

    def is_meets_first(self, a, b, c):
        return (b - a) % self.size < (c - a) % self.size

    def is_next_clockwise(self, a, b):
        return (a - b) % self.size == 1

    def is_not_at(self, a, k):
        return a != k

    def is_if_at(self, a, k, b, m):
        return a != k or b == m

    def is_if_before(self, a, b, c, d):
        return a > b or c < d

    def is_before_one(self, a, b, c):
        return a < b or a < c

    def is_not_between(self, a, b, c):
        return not self.is_between(a, b, c)

    def is_before_both(self, a, b, c):
        return a < b and a < c

    def is_at_end(self, a):
        return a in {1, self.size}

    def is_not_end(self, a):
        return a not in {1, self.size}

    def is_steps_before(self, a, b, k):
        return a + k == b

    def is_steps_after(self, a, b, k):
        return a - k == b

    def is_even(self, a):
        return a % 2 == 0

    def is_odd(self, a):
        return a % 2 == 1

    def is_one_of(self, a, k, m):
        return a in {k, m}

    def is_at(self, a, k):
        return a == k

    def is_before(self, a, b):
        return a < b

    def is_after(self, a, b):
        return a > b

    def is_between(self, a, b, c):
        return b < a < c or c < a < b

    def is_beside(self, a, b):
        gap = abs(a - b)
        return gap == 1 or (self.circle and gap == self.size - 1)

    def is_not_beside(self, a, b):
        return not self.is_beside(a, b)

    def is_amid(self, a, b, c):
        return self.is_beside(a, b) and self.is_beside(a, c)

    def is_at_most(self, a, k):
        return a <= k

    def is_differ_least(self, a, b, k):
        return abs(a - b) >= k

    def is_differ_one(self, a, b):
        return abs(a - b) == 1

    def all_some_end(self, places):
        return any(map(self.is_at_end, places))

    def all_no_end(self, places):
        return not self.all_some_end(places)

    def all_together(self, places):
        return max(places) - min(places) + 1 == len(places)

    def all_each_beside(self, places):
        return all(any(self.is_beside(one, other) for other in places) for one in places)

    def all_none_beside(self, places):
        return not any(self.is_beside(one, other) for one in places for other in places)

    def all_has_number(self, places, k):
        return k in places

    def all_lacks_number(self, places, k):
        return k not in places

    def all_both_parities(self, places):
        return {place % 2 for place in places} == {0, 1}

    def all_least_odd(self, places):
        return min(places) % 2 == 1

    def all_least_even(self, places):
        return min(places) % 2 == 0
