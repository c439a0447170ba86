"""Kinds whose meaning is short: a game with a heap, draws from an urn, jobs, journeys, a number, liars."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

from evolake.families.text_solver.language import Meaning, Reader, Unanswerable, Unreadable, known, read_kind
from evolake.families.text_solver.search import Budget, Clue, assignments

MOST = 3_000
"""Things in a heap, hours, or places."""


def read(text: str) -> Meaning:
    """Return the meaning of a text of one of these kinds; raise Unreadable with what has none."""
    return read_kind("single", KINDS, text)


def _frame(reader: Reader, tables: dict[str, Any]) -> None:
    for sentence in tables["frame"]:
        reader.take(sentence)


def _bounded(number: int) -> int:
    if number > MOST:
        raise Unreadable(f"too large: {number}")
    return number


def _game(reader: Reader, tables: dict[str, Any]) -> Callable[[], Any]:
    reader.words = {"things": reader.take(*tables["opening"])["word"]}
    takes = sorted(reader.take(tables["takes"])["numbers"])
    _frame(reader, tables)
    again, end = reader.choose(tables["again"])[0], reader.choose(tables["end"])[0]
    name, values = reader.question(tables["questions"])
    size = _bounded(values["k"])
    if not takes or takes[0] < 1 or len(set(takes)) < len(takes) or (name == "winning" and size < 4):
        raise Unreadable("numbers that cannot be taken")

    def find() -> Any:
        wins: dict[tuple[int, int], bool] = {}
        budget = Budget()

        def allowed(heap: int, last: int) -> list[int]:
            budget.spend(len(takes))
            return [taken for taken in takes if taken <= heap and (again == "free" or taken != last)]

        def good(heap: int, last: int) -> list[int]:
            return [taken for taken in allowed(heap, last) if not wins[heap - taken, taken]]

        for heap in range(size + 1):
            for last in (0, *takes):
                stuck = not allowed(heap, last)
                wins[heap, last] = end == "wins" if stuck else bool(good(heap, last))
        if name == "letters":
            return "".join("W" if wins[heap, 0] else "L" for heap in range(1, size + 1))
        if name == "losing":
            return [heap for heap in range(1, size + 1) if not wins[heap, 0]]
        return [good(size - fewer, 0) for fewer in range(4)]

    return find


def _urn(reader: Reader, tables: dict[str, Any]) -> Callable[[], Any]:
    found = reader.take(*tables["opening"])
    counts, things = found["counts"], found["word"]
    reader.words = {"things": things, "thing": things.removesuffix("s")}
    draws = reader.take(tables["draws"])["n"]
    back = reader.choose(tables["back"])[0]
    name, values = reader.question(tables["questions"])
    if len(set(dict(counts))) < len(counts) or values["word"] not in dict(counts):
        raise Unreadable("a colour that is not there, or twice")
    if _bounded(draws) > 60 or (back == "kept" and draws > sum(dict(counts).values())):
        raise Unreadable("too many draws")

    def find() -> str:
        mine = dict(counts)[values["word"]]
        added = {"kept": -1, "back": 0, "more": 1}[back]
        chances = {0: Fraction(1)}
        whole = sum(dict(counts).values())
        for draw in range(draws):
            after: dict[int, Fraction] = {}
            for hits, chance in chances.items():
                share = Fraction(mine + added * hits, whole + added * draw)
                after[hits + 1] = after.get(hits + 1, Fraction(0)) + chance * share
                after[hits] = after.get(hits, Fraction(0)) + chance * (1 - share)
            chances = after
        least = sum((chance for hits, chance in chances.items() if hits >= values["k"]), Fraction(0))
        if name == "exactly":
            return str(chances.get(values["k"], Fraction(0)))
        if name == "least":
            return str(least)
        if not least:
            raise Unanswerable("what is supposed cannot be")
        return str(chances.get(draws, Fraction(0)) / least)

    return find


def _jobs(reader: Reader, tables: dict[str, Any]) -> Callable[[], Any]:
    found = reader.take(*tables["opening"])
    by, ones = found["word"].removesuffix("s"), found["word1"]
    one = ones.removesuffix("es" if ones.endswith("shes") else "s")
    reader.words = {"by": by, "one": one, "ones": ones, "One": one.capitalize()}
    jobs = {
        values["k"]: (values["m"], {values[place] for place in "np" if place in values})
        for _, values in reader.items(tables["known"])
    }
    _frame(reader, tables)
    first = reader.choose(tables["first"])[0]
    name, _ = reader.question(tables["questions"])
    if list(jobs) != list(range(1, len(jobs) + 1)) or any(needs - set(jobs) for _, needs in jobs.values()):
        raise Unreadable("they are not numbered one after another, or need what there is not")
    _bounded(sum(hours for hours, _ in jobs.values()))

    def claim(job: int) -> tuple[int, int]:
        wanted = sum(job in needs for _, needs in jobs.values())
        claims = {"needed": wanted, "highest": job, "longest": jobs[job][0], "shortest": -jobs[job][0]}
        return -claims[first], job

    def find() -> Any:
        ends: dict[int, int] = {}
        now = 0
        while len(ends) < len(jobs):
            done = {job for job, end in ends.items() if end <= now}
            ready = sorted((job for job in jobs if job not in ends and jobs[job][1] <= done), key=claim)
            for job in ready[: found["n"] - (len(ends) - len(done))]:
                ends[job] = now + jobs[job][0]
            running = [end for end in ends.values() if end > now]
            if not running and not ready:
                raise Unanswerable("some can never begin")
            now = min(running, default=now)
        if name == "order":
            return sorted(jobs, key=lambda job: (ends[job] - jobs[job][0], job))
        return sum(ends.values()) if name == "sum" else dict(sorted(ends.items()))

    return find


def _routes(reader: Reader, tables: dict[str, Any]) -> Callable[[], Any]:
    found = reader.take(*tables["opening"])
    names, places, ways = found["list"], found["word"], found["word1"]
    reader.words = {
        "places": places,
        "place": places.removesuffix("s"),
        "ways": ways,
        "way": ways.removesuffix("s"),
    }
    joined: dict[str, list[tuple[str, int]]] = {name: [] for name in names}
    unit = ""
    while (way := reader.maybe("- {a} and {b}: {k} {word}.")) is not None:
        known(names, way)
        unit = unit or way["word"].removesuffix("s")
        if way["a"] == way["b"] or way["word"] not in (unit, f"{unit}s"):
            raise Unreadable(f"from one place to itself, or in another unit: {way['a']}")
        joined[way["a"]].append((way["b"], way["k"]))
        joined[way["b"]].append((way["a"], way["k"]))
    reader.words |= {"unit": unit}
    _frame(reader, tables)
    kind, found = reader.choose(tables["cost"])
    more, first = found.get("k", 0), 2 if kind == "twice" else 1
    name, values = reader.question(tables["questions"])
    start = known(names, values)["a"]

    def find() -> Any:
        costs: dict[str, int] = {}
        waiting = [(0, start)]
        while waiting:
            cost, place = heappop(waiting)
            if place in costs:
                continue
            costs[place] = cost
            for other, price in joined[place]:
                heappush(waiting, (cost + (first * price if place == start else price + more), other))
        if len(costs) < len(names):
            raise Unanswerable("there is no journey to some of them")
        del costs[start]
        if name == "order":
            return sorted(costs, key=lambda place: (costs[place], place))
        return sum(costs.values()) if name == "sum" else costs

    return find


def _numbers(reader: Reader, tables: dict[str, Any]) -> Callable[[], Any]:
    reader.take(*tables["opening"])
    span = reader.take(tables["range"])
    _frame(reader, tables)
    rules = [rule for rule, _ in reader.items(tables["rules"])]
    name, _ = reader.question(tables["questions"])
    if span["n"] < 1 or span["m"] >= span["n"]:
        raise Unreadable("a remainder that cannot be")

    def find() -> Any:
        found = [
            number
            for number in range(span["k"], span["l"] + 1)
            if number % span["n"] == span["m"] and all(DIGITS[rule](str(number)) for rule in rules)
        ]
        return found if name == "list" else sum(found)

    return find


def _digit_sum(digits: str) -> int:
    return sum(map(int, digits))


DIGITS: dict[str, Callable[[str], bool]] = {
    "distinct": lambda digits: len(set(digits)) == len(digits),
    "repeated": lambda digits: len(set(digits)) < len(digits),
    "rising": lambda digits: all(one <= other for one, other in pairwise(digits)),
    "last_smaller": lambda digits: digits[-1] < digits[0],
    "even": lambda digits: _digit_sum(digits) % 2 == 0,
    "odd": lambda digits: _digit_sum(digits) % 2 == 1,
    "by_three": lambda digits: _digit_sum(digits) % 3 == 0,
}


def _liars(reader: Reader, tables: dict[str, Any]) -> Callable[[], Any]:
    for row in tables["settings"]:
        said = reader.maybe(tables["opening"].format(list="{list}", **row))
        if said is not None:
            break
    else:
        raise Unreadable(reader.next)
    names = said["list"]
    good, bad = row.get("short", (row["good"], row["bad"]))
    kinds = {"goods": f"{row['good']}s", "bads": f"{row['bad']}s", "short_good": good, "short_bad": bad}
    reader.words = kinds | row
    _frame(reader, tables)
    kind, _ = reader.choose(tables["known"])
    reader.take("This is what they say:")
    clues = [Clue(tuple(names), lambda *true: NUMBERS[kind](true.count(0), sum(true)))]
    for meaning, values in reader.items(tables["clues"]):
        scope = [known(names, values)[place] for place in "abc" if place in values]
        if len(set(scope)) < len(scope):
            raise Unreadable(f"somebody is compared with himself: {scope[0]}")
        holds = SAID[meaning]
        clues.append(Clue(tuple(scope), lambda a, *of, holds=holds: bool(a) == holds(*of)))
    reader.take("Exactly one distribution fits all of this.")
    name, _ = reader.question(tables["questions"])

    def find() -> Any:
        fits = list(assignments(names, (0, 1), clues, distinct=False))
        if len(fits) != 1:
            raise Unanswerable(f"the text says that exactly one fits; {len(fits)} do")
        if name == "list":
            return sorted(one for one in names if not fits[0][one])
        if name == "letters":
            return "".join("H" if fits[0][one] else "L" for one in sorted(names))
        return {one: good if fits[0][one] else bad for one in names}

    return find


NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "even": lambda bad, good: bad % 2 == 0,
    "odd": lambda bad, good: bad % 2 == 1,
    "more": lambda bad, good: bad > good,
}
SAID: dict[str, Callable[..., bool]] = {
    "good": lambda b: b == 1,
    "bad": lambda b: b == 0,
    "same": lambda b, c: b == c,
    "different": lambda b, c: b != c,
    "some_bad": lambda b, c: not (b and c),
}
KINDS: dict[str, Callable[[Reader, dict[str, Any]], Callable[[], Any]]] = {
    "game": _game,
    "urn": _urn,
    "jobs": _jobs,
    "routes": _routes,
    "numbers": _numbers,
    "liars": _liars,
}
