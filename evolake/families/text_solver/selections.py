"""Selections: which of several named things are chosen, from clues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evolake.families.text_solver.language import Meaning, Unanswerable, Unreadable, known, opened, table
from evolake.families.text_solver.puzzles import asked
from evolake.families.text_solver.search import Clue, assignments

MOST_NAMES = 14


def read(text: str) -> Meaning:
    """Return the meaning of a text about a selection; raise Unreadable with what has none."""
    reader, values, setting = opened("selections", text)
    names, numbers = values["list"], values["numbers"]
    if not len(set(names)) == len(names) == len(numbers) <= MOST_NAMES:
        raise Unreadable("names and numbers do not pair up, or too many of them")
    weights = dict(zip(names, numbers, strict=True))
    reader.words = setting | {"Those": setting["those"][0].upper() + setting["those"][1:]}
    marked = known(names, reader.take("Of the {all}, {list} {marked}."))["list"]
    tables = table("selections")
    clues = []
    rule = reader.maybe_choose(tables["rules"])
    if rule is not None:
        clues.append(_group(GROUPS[rule[0]], marked))
    reader.take("This is known:")
    clues += [_clue(weights, *item) for item in reader.items(tables["clues"])]
    question = asked(
        reader, tables["questions"], names, lambda *item: _clue(weights, *item), tables["clues"], TOTALS
    )

    def find() -> Any:
        return question(_Fits(assignments(names, (0, 1), clues, distinct=False), weights))

    return Meaning(find, rules=reader.chosen)


class _Fits(list):
    """All choices that fit, and what each thing weighs."""

    def __init__(self, fits: Any, weights: dict[str, int]):
        super().__init__(fits)
        self.weights = weights

    def total(self, fit: dict[str, int]) -> int:
        """Return the sum of the numbers of what is chosen."""
        return sum(self.weights[name] for name, chosen in fit.items() if chosen)


def _group(holds: Callable[..., bool], names: list[str], **values: int) -> Clue:
    size = len(names)
    return Clue(tuple(names), lambda *chosen: holds(sum(chosen), size, **values))


def _clue(weights: dict[str, int], meaning: str, values: dict[str, Any]) -> Clue:
    names = list(weights)
    known(names, values)
    if meaning in {"sum_least", "sum_most"}:
        sign = 1 if meaning == "sum_least" else -1
        numbers, bound = list(weights.values()), values["k"]
        return Clue(
            tuple(names),
            lambda *chosen: sign * sum(n for n, c in zip(numbers, chosen, strict=True) if c) >= sign * bound,
        )
    if meaning.startswith("size_"):
        return _group(GROUPS[meaning], names, **values)
    scope = values.get("list") or [values[place] for place in "abc" if place in values]
    if len(set(scope)) < len(scope):
        raise Unreadable(f"a name is compared with itself: {scope[0]}")
    if "list" in values:
        return _group(GROUPS[meaning], scope)
    return Clue(tuple(scope), SINGLE[meaning])


GROUPS: dict[str, Callable[..., bool]] = {
    "some": lambda chosen, size: chosen >= 1,
    "all_or_none": lambda chosen, size: chosen in {0, size},
    "at_most_one": lambda chosen, size: chosen <= 1,
    "minority": lambda chosen, size: chosen < size - chosen,
    "one": lambda chosen, size: chosen == 1,
    "two": lambda chosen, size: chosen == 2,
    "not_all": lambda chosen, size: chosen < size,
    "all_but_one": lambda chosen, size: chosen == size - 1,
    "size_least": lambda chosen, size, k: chosen >= k,
    "size_most": lambda chosen, size, k: chosen <= k,
    "size_even": lambda chosen, size: chosen % 2 == 0,
}
SINGLE: dict[str, Callable[..., bool]] = {
    "differ": lambda a, b: a != b,
    "equal": lambda a, b: a == b,
    "if_all": lambda a, b, c: not a or (b and c),
    "if_some": lambda a, b, c: not a or b or c,
    "if_not": lambda a, b: not (a and b),
    "unless": lambda a, b: a or b,
    "implies": lambda a, b: not a or b,
    "not_three": lambda a, b, c: not (a and b and c),
    "not_both": lambda a, b: not (a and b),
}


def _least_word(fits: _Fits, **_: Any) -> str:
    least = min(map(fits.total, fits))
    best = [fit for fit in fits if fits.total(fit) == least]
    if len(best) != 1:
        raise Unanswerable(f"the text says that exactly one is smallest; {len(best)} are")
    return "".join(sorted(name[0] for name, chosen in best[0].items() if chosen))


TOTALS: dict[str, Callable[..., Any]] = {
    "least_total": lambda fits, **_: min(map(fits.total, fits)),
    "least_word": _least_word,
}
