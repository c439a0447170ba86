"""Answers to puzzles by programs that share nothing with their engines: everything is listed and looked at,
or acted out."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any


def of_puzzle(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """The answer. asked: the question as the title says it."""
    kinds: dict[str, Callable[[Mapping[str, Any], Mapping[str, str], str, str], Any]] = {
        "roads": of_routes,
        "jobs": of_jobs,
        "rows": of_picture,
        "divisor": of_numbers,
        "word": of_rewriting,
        "takes": of_game,
        "draws": of_urn,
        "says": of_liars,
        "corners": of_field,
    }
    return next(solve for key, solve in kinds.items() if key in inputs)(inputs, rules, asked, text)


def of_routes(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Every order of every set of places in between, as a journey."""
    length = {frozenset((one, other)): amount for one, other, amount in inputs["roads"]}
    start, costs = inputs["start"], {}
    for goal in set(inputs["places"]) - {start}:
        between = sorted(set(inputs["places"]) - {start, goal})
        fares = []
        for some in (order for size in range(len(between) + 1) for order in permutations(between, size)):
            legs = [frozenset(pair) for pair in zip((start, *some), (*some, goal), strict=True)]
            if all(leg in length for leg in legs):
                fare = sum(length[leg] for leg in legs)
                fares.append(
                    fare + {"plain": 0, "stops": 3 * len(some), "twice": length[legs[0]]}[rules["cost"]]
                )
        costs[goal] = min(fares)
    if asked == "the cheapest journeys":
        return costs
    return (
        sum(costs.values())
        if asked.startswith("what")
        else sorted(costs, key=lambda goal: (costs[goal], goal))
    )


def of_jobs(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Acted out: each worker has a list of what is done in which unit of time."""
    jobs = dict(enumerate(inputs["jobs"], 1))
    needed = {number: sum(number in needs for _, needs in jobs.values()) for number in jobs}
    rank: dict[str, Callable[[int], int]] = {
        "longest": lambda job: -jobs[job][0],
        "shortest": lambda job: jobs[job][0],
        "latest": lambda job: -job,
        "wanted": lambda job: -needed[job],
    }
    begun: dict[int, int] = {}
    time = 0
    while len(begun) < len(jobs):
        busy = sum(start <= time < start + jobs[job][0] for job, start in begun.items())
        over = {job for job, start in begun.items() if start + jobs[job][0] <= time}
        for job in sorted(jobs, key=lambda job: (rank[rules["first"]](job), job)):
            if job not in begun and busy < inputs["workers"] and over.issuperset(jobs[job][1]):
                begun[job], busy = time, busy + 1
        time += 1
    ends = {str(job): begun[job] + jobs[job][0] for job in jobs}
    if asked == "when each is finished":
        return ends
    return (
        sum(ends.values())
        if asked.startswith("the sum")
        else sorted(begun, key=lambda job: (begun[job], job))
    )


def of_picture(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Complex numbers: a letter is at column + row * 1j, both counted from the middle."""
    size = len(inputs["rows"])
    middle = complex(size - 1, size - 1) / 2
    at = {
        complex(c, r) - middle: letter for r, row in enumerate(inputs["rows"]) for c, letter in enumerate(row)
    }
    edge = middle.real

    def wrapped(place: complex) -> complex:
        return complex(*(part - size if part > edge else part for part in (place.real, place.imag)))

    for command in inputs["commands"]:
        moves: dict[str, Callable[[complex], complex]] = {
            "right": lambda z: z * 1j,
            "left": lambda z: z * -1j,
            "sides": lambda z: -z.conjugate(),
            "ends": lambda z: z.conjugate(),
            "diagonal": lambda z: complex(z.imag, z.real),
            "row": lambda z: wrapped(z + 1) if z.imag == -edge else z,
            "column": lambda z: wrapped(z + 1j) if z.real == -edge else z,
            "all": lambda z: wrapped(z + 1j),
        }
        at = {moves[rules[command]](place): letter for place, letter in at.items()}
    rows = ["".join(at[complex(c, r) - middle] for c in range(size)) for r in range(size)]
    if asked == "the rows in the end":
        return rows
    if asked == "a word across the square":
        return "".join(row[place] for place, row in enumerate(rows))
    return {"left": "".join(row[0] for row in rows), "right": "".join(row[size - 1] for row in rows)}


def of_numbers(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Every number below 10,000, by tests of its text."""
    shapes: dict[str, Callable[[str], bool]] = {
        "different": lambda word: all(one != other for one, other in combinations(word, 2)),
        "repeated": lambda word: any(one == other for one, other in combinations(word, 2)),
        "rising": lambda word: all(one <= other for one, other in combinations(word, 2)),
        "falling": lambda word: int(word[-1]) < int(word[0]),
    }
    totals = {"even": (2, 0), "odd": (2, 1), "third": (3, 0)}
    modulus, wanted = totals[rules["total"]]
    found = [
        number
        for number in range(10_000)
        if inputs["low"] <= number <= inputs["high"]
        and divmod(number, inputs["divisor"])[1] == inputs["remainder"]
        and shapes[rules["shape"]](f"{number}")
        and sum(int(digit) for digit in f"{number}") % modulus == wanted
    ]
    return sum(found) if asked.startswith("the sum") else found


def of_rewriting(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """All words that one replacement gives, of which the right one is chosen."""
    word, used = inputs["word"], []
    for _ in range(inputs["steps"]):
        results = {
            (number, at): word[:at] + new + word[at + len(old) :]
            for number, (old, new) in enumerate(inputs["rules"], 1)
            for at in range(len(word))
            if word[at:].startswith(old)
        }
        signs = (1 if rules["which"] == "lowest" else -1, 1 if rules["where"] == "left" else -1)
        best = min(results, key=lambda key: (signs[0] * key[0], signs[1] * key[1]), default=(0, 0))
        word = results.get(best, word)
        used.append(best[0])
    return word if asked == "what it becomes" else used


def of_game(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Values of +1 and -1 by plain minimax, the states that were met noted."""
    values: dict[tuple[int, int], int] = {}

    def value(size: int, last: int) -> int:
        if (size, last) not in values:
            moves = [
                take
                for take in inputs["takes"]
                if take <= size and (rules["again"] == "free" or take != last)
            ]
            stuck = 1 if rules["end"] == "wins" else -1
            values[size, last] = max((-value(size - take, take) for take in moves), default=stuck)
        return values[size, last]

    most = inputs["most"]
    if asked == "the winning first moves":
        sizes = [most, most - 1, most - 2, most - 3]
        return [
            [take for take in sorted(inputs["takes"]) if take <= size and value(size - take, take) < 0]
            for size in sizes
        ]
    result = [value(size, 0) for size in range(1, most + 1)]
    return (
        "".join("W" if one > 0 else "L" for one in result)
        if asked.startswith("a word")
        else [n for n, one in enumerate(result, 1) if one < 0]
    )


def of_urn(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """By recursion on the draws, for the one colour against all others: what the others are makes no
    difference."""
    mine = inputs["counts"][inputs["colours"].index(inputs["colour"])]
    change = {"kept": -1, "back": 0, "more": 1}[rules["back"]]

    def chance(own: int, others: int, draws: int, hits: int, good: Callable[[int], bool]) -> Fraction:
        if not draws:
            return Fraction(int(good(hits)))
        result = Fraction(0)
        if own > 0:
            result += Fraction(own, own + others) * chance(own + change, others, draws - 1, hits + 1, good)
        if others > 0:
            result += Fraction(others, own + others) * chance(own, others + change, draws - 1, hits, good)
        return result

    def likely(good: Callable[[int], bool]) -> Fraction:
        return chance(mine, sum(inputs["counts"]) - mine, inputs["draws"], 0, good)

    wanted = inputs["wanted"]
    if asked == "what is known of the other colours":
        return str(likely(lambda hits: hits == inputs["draws"]) / likely(lambda hits: hits >= wanted))
    return str(
        likely(lambda hits: hits == wanted if asked == "a certain number of one colour" else hits >= wanted)
    )


def of_field(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Weights of the corners that make a point, as exact fractions: a point is in the triangle if none is
    below 0."""
    (a, b), (c, d), (e, f) = inputs["corners"]
    whole = Fraction((d - f) * (a - e) + (e - c) * (b - f))

    def inside(x: int, y: int) -> bool:
        one, two = (
            ((d - f) * (x - e) + (e - c) * (y - f)) / whole,
            ((f - b) * (x - e) + (a - e) * (y - f)) / whole,
        )
        weights = [one, two, 1 - one - two]
        least = {
            "inside": min(weights) >= 0,
            "outside": min(weights) > 0,
            "corners": min(weights) >= 0 and max(weights) < 1,
        }
        return least[rules["border"]]

    if asked == "which posts are in it":
        return sorted(name for name, x, y in inputs["posts"] if inside(x, y))
    rows = [y for y in range(30) for x in range(30) if inside(x, y)]
    return {str(y): rows.count(y) for y in rows}


def of_liars(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Every set of liars; what is said is looked up in the set."""
    names, found = inputs["names"], []
    for liars in (set(some) for size in range(len(names) + 1) for some in combinations(names, size)):
        truths = []
        for who, kind, *some in inputs["says"]:
            lying = len(liars & set(some))
            true = {
                "liar": lying == 1,
                "honest": lying == 0,
                "same": lying != 1,
                "different": lying == 1,
                "one": lying > 0,
            }[kind]
            truths.append(true != (who in liars))
        balance = {
            "odd": len(liars) % 2 == 1,
            "even": len(liars) % 2 == 0,
            "fewer": len(liars) > len(names) / 2,
        }[rules["known"]]
        found += [liars] if all(truths) and balance else []
    [liars] = found
    if asked == "what each of them is":
        honest, lying = text.rstrip(".").rsplit("to the words ", 1)[1].split(" and ")
        return {name: lying if name in liars else honest for name in names}
    ordered = sorted(names)
    return (
        "".join("L" if name in liars else "H" for name in ordered)
        if asked.startswith("a word")
        else [name for name in ordered if name in liars]
    )


def is_right(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """Whether an answer of the right form to a question with many correct answers keeps the rules."""
    kinds: dict[str, Callable[[Mapping[str, Any], Mapping[str, str], str, Any], bool]] = {
        "pairs": right_days,
        "stones": right_chain,
        "row": right_cards,
    }
    return next(judge for key, judge in kinds.items() if key in inputs)(inputs, rules, asked, answer)


def right_days(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """A table of names and days."""
    plan = answer if asked == "a plan by names" else dict(zip(inputs["names"], answer, strict=True))
    gaps = [plan[other] - plan[one] for one, other in inputs["pairs"]]
    count = [sum(day == number for day in plan.values()) for number in range(1, inputs["days"] + 1)]
    apart = {
        "different": all(gaps),
        "spaced": all(gap * gap > 1 for gap in gaps),
        "earlier": all(gap > 0 for gap in gaps),
    }
    load = {"most": all(number <= 3 for number in count), "used": all(count), "ends": count[0] == count[-1]}
    return sum(count) == len(inputs["names"]) and apart[rules["apart"]] and load[rules["load"]]


def right_chain(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """Every order and every way round of all stones, for the few stones that there are."""
    ends = {letter: (one, other) for letter, one, other in inputs["stones"]}
    ways = {"free": ("", "r"), "ahead": ("",), "back": ("r",)}[rules["turn"]]
    fits = {
        "same": lambda x, y: x == y,
        "step": lambda x, y: abs(x - y) == 1,
        "sum": lambda x, y: x + y == 7,
    }[rules["meet"]]

    def rows(left: tuple[str, ...], row: tuple[int, ...], word: str) -> Any:
        if not left:
            yield word if asked == "a row by letters" else list(row)
        for letter in left:
            for way in ways:
                pair = ends[letter][::-1] if way else ends[letter]
                if not row or fits(row[-1], pair[0]):
                    yield from rows(
                        tuple(other for other in left if other != letter), (*row, *pair), word + letter
                    )

    return any(row == answer for row in rows(tuple(ends), (), ""))


def right_cards(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """As numbers of the choice's binary digits."""
    row = inputs["row"]
    places = (
        [row.index(amount) for amount in answer]
        if asked == "what is picked"
        else [place - 1 for place in answer]
    )
    if any(place not in range(len(row)) for place in places) or sorted(set(places)) != places:
        return False
    bits, last = sum(1 << place for place in places), 1 << len(row) - 1
    touching = bits & (bits << 1 | bits >> 1)
    near = {"apart": touching == 0, "linked": touching == bits, "ends": (bits & 1 > 0) != (bits & last > 0)}[
        rules["near"]
    ]
    count = {
        "even": bits.bit_count() % 2 == 0,
        "odd": bits.bit_count() % 2 == 1,
        "few": bits.bit_count() <= 5,
    }[rules["count"]]
    return near and count and sum(row[place] for place in places) == inputs["total"]
