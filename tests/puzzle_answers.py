"""Answers to puzzles by programs that share nothing with their engines: everything is listed and looked at,
or acted out."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations, pairwise, permutations
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
        "row": of_cells,
        "key": of_cipher,
        "ballots": of_ballots,
        "pieces": of_words,
        "towns": of_network,
        "claims": of_kinds,
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


def of_cells(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Sums of what is around a cell, weighted so that each pattern has a number."""
    size, state = len(inputs["row"]), {place for place, one in enumerate(inputs["row"]) if one == "X"}
    wanted = {"one": {1, 4, 3, 6}, "odd": {1, 2, 4, 7}, "mixed": set(range(1, 7)), "right": {1, 2, 5, 6}}
    states = []
    for _ in range(inputs["steps"]):

        def lit(place: int, state: set[int] = state) -> bool:
            if 0 <= place < size or rules["border"] == "ring":
                return place % size in state
            return rules["border"] == "on"

        state = {
            place
            for place in range(size)
            if sum(lit(place + 1 - bit) << bit for bit in range(3)) in wanted[rules["change"]]
        }
        states.append(state)
    if asked == "the row in the end":
        return "".join("X" if place in state else "O" for place in range(size))
    if asked == "how many after each step":
        return [len(state) for state in states]
    return [sum(place in state for state in states) for place in range(size)]


def of_cipher(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """A table that is written and read as the text says; plain words by taking all that was done back."""
    key, width = inputs["key"], inputs["width"]

    def cells(size: int) -> list[int]:
        table = [list(range(start, min(start + width, size))) for start in range(0, size, width)]
        if rules["order"] == "blocks":
            return [place for row in table for place in row[::-1]]
        columns = [[row[column] for row in table if column < len(row)] for column in range(width)]
        turned = columns if rules["order"] == "columns" else columns[::-1]
        return [place for column in turned for place in column]

    def number(letter: str) -> int:
        return "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(letter)

    def shifts(word: str) -> list[int]:
        amounts = {
            "same": [key] * len(word),
            "growing": list(range(key, key + len(word))),
            "turns": [key * (-1) ** place for place in range(len(word))],
            "chain": [key, *(number(letter) + 1 for letter in word)],
        }
        return amounts[rules["shift"]]

    def forward(word: str) -> str:
        moved = [chr(65 + (number(one) + by) % 26) for one, by in zip(word, shifts(word), strict=False)]
        return "".join(moved[place] for place in cells(len(word)))

    if asked == "from plain to coded":
        return forward(inputs["letters"])
    if asked == "again and again":
        first = forward(inputs["letters"])
        return [first, forward(first), forward(forward(first))]
    moved = [""] * len(inputs["letters"])
    for place, letter in zip(cells(len(moved)), inputs["letters"], strict=True):
        moved[place] = letter
    word = ""
    for place, letter in enumerate(moved):
        word += chr(65 + (number(letter) - shifts(word + "A")[place]) % 26)
    return word


def of_ballots(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Pairs of names that are compared on every list."""
    left, gone = set(inputs["candidates"]), []
    while left:
        badness: dict[str, int] = {}
        for name in left:
            total = 0
            for number, ballot in inputs["ballots"]:
                beaten = sum(ballot.index(name) < ballot.index(other) for other in left - {name})
                losses = len(left) - 1 - beaten
                total += number * {"front": losses > 0, "end": beaten == 0, "points": losses}[rules["out"]]
            badness[name] = total
        equal = sorted(name for name in left if badness[name] == max(badness.values()))
        gone.append(equal[-1 if rules["equal"] == "late" else 0])
        left.remove(gone[-1])
    if asked == "who drops out when":
        return gone
    return {name: number for number, name in enumerate(gone[:-1], 1)} | {gone[-1]: 0}


def of_words(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Numbers in the base of as many letters as there are, counted up."""
    letters, length, found = sorted(inputs["letters"]), inputs["length"], []
    for code in range(len(letters) ** length):
        digits = [code // len(letters) ** place % len(letters) for place in reversed(range(length))]
        doubles = any(not one - other for one, other in pairwise(digits))
        near = {
            "different": not doubles,
            "double": doubles,
            "rare": max(digits.count(digit) for digit in digits) in (1, 2),
        }[rules["neighbours"]]
        gap = digits[-1] - digits[0]
        ends = {"equal": gap == 0, "rising": gap > 0, "falling": gap < 0}[rules["ends"]]
        pairs = {letters[one] + letters[other] for one, other in pairwise(digits)}
        if near and ends and not pairs & set(inputs["pieces"]):
            found.append("".join(letters[digit] for digit in digits))
    mine = found[inputs["number"] - 1 :][:3]
    if asked == "the letters of a word":
        return {letter: mine[0].count(letter) for letter in letters}
    return mine if asked == "words in a row" else mine[0]


def of_network(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Every choice of as many lines as are needed."""
    towns, lines = inputs["towns"], inputs["lines"]
    allowed = lines[1:] if rules["given"] == "without" else lines
    best: Any = None
    for some in combinations(allowed, len(towns) - 1):
        if rules["given"] in ("first", "last") and lines[-(rules["given"] == "last")] not in some:
            continue
        reached = hops(towns[0], some)
        cost = sum(line[2] for line in some) * (1 if rules["want"] == "least" else -1)
        if len(reached) == len(towns) and (best is None or cost < best[0]):
            best = cost, some, reached
    _, some, reached = best
    if asked == "the costs of the lines":
        return sorted(line[2] for line in some)
    if asked == "lines at each place":
        return {town: sum(town in line for line in some) for town in towns}
    return {town: number for town, number in reached.items() if town != towns[0]}


def of_kinds(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, text: str) -> Any:
    """Which regions of a diagram may be shaded: a statement is decided in the fullest diagram, and in those
    that leave one region more empty."""
    kinds = inputs["kinds"]
    regions = [set(some) for size in range(len(kinds) + 1) for some in combinations(kinds, size)]

    def cut(one: str, other: str, inside: bool) -> set[int]:
        return {
            place for place, region in enumerate(regions) if one in region and (other in region) == inside
        }

    def true(full: set[int], statement: Any) -> bool:
        word, one, other = statement
        both, only = full & cut(one, other, True), full & cut(one, other, False)
        if word in ("all", "no"):
            return not (only if word == "all" else both)
        if rules["some"] == "part":
            return bool(both and only)
        return bool(both if word == "some" else only)

    full = set(range(len(regions)))
    for word, one, other in inputs["known"]:
        if word in ("all", "no"):
            full -= cut(one, other, word == "no")
    tried = [
        full,
        *(full - cut(one, other, way) for one, other in permutations(kinds, 2) for way in (True, False)),
    ]
    worlds = [
        world
        for world in tried
        if all(true(world, statement) for statement in inputs["known"])
        and (rules["empty"] == "may" or all(any(kind in regions[place] for place in world) for kind in kinds))
    ]
    word = ""
    for claim in inputs["claims"]:
        seen = {true(world, claim) for world in worlds}
        word += "U" if len(seen) > 1 else "FT"[True in seen]
    if asked == "a word of judgements":
        return word
    lists = {
        name: [place for place, one in enumerate(word, 1) if one == letter]
        for name, letter in (("true", "T"), ("false", "F"), ("open", "U"))
    }
    return lists["true"] if asked == "what is certainly true" else lists


def hops(start: str, lines: Any) -> dict[str, int]:
    """How many lines away from the start the others are."""
    found, edge, number = {start: 0}, {start}, 0
    while edge:
        number += 1
        edge = {town for one, other, _ in lines for town in (one, other) if {one, other} & edge} - set(found)
        found |= dict.fromkeys(edge, number)
    return found


def is_right(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """Whether an answer of the right form to a question with many correct answers keeps the rules."""
    kinds: dict[str, Callable[[Mapping[str, Any], Mapping[str, str], str, Any], bool]] = {
        "pairs": right_days,
        "stones": right_chain,
        "row": right_cards,
        "result": right_signs,
        "blocked": right_guards,
        "goal": right_discs,
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


def right_signs(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """Brackets are put into the text of the calculation, which Python works out."""
    words = {"P": "+", "M": "-", "T": "*", "plus": "+", "minus": "-", "times": "*"}
    signs, numbers = [words[one] for one in answer], [str(number) for number in inputs["numbers"]]
    if len(signs) != len(numbers) - 1 or (asked == "a list of signs") != all(len(one) > 1 for one in answer):
        return False
    if rules["first"] == "right":
        parts = [f"{number}{sign}(" for number, sign in zip(numbers, signs, strict=False)]
        line = "".join([*parts, numbers[-1], ")" * len(signs)])
    else:
        close = ")" if rules["first"] == "left" else ""
        parts = [f"{sign}{number}{close}" for sign, number in zip(signs, numbers[1:], strict=True)]
        line = ("(" * len(signs) if close else "") + "".join([numbers[0], *parts])
    balance = signs.count("+") - signs.count("-")
    kept = {"more": balance > 0, "fewer": balance < 0, "same": balance == 0 and "+" in signs}[rules["use"]]
    return kept and eval(line) == inputs["result"]


def right_guards(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """Complex numbers: the difference of two places says how they see each other."""
    size = inputs["size"]
    pairs = (
        list(enumerate(answer, 1)) if isinstance(answer, list) else [(r, int(c)) for c, r in answer.items()]
    )
    places = {complex(column, row) for row, column in pairs}
    for part in ({place.real for place in places}, {place.imag for place in places}):
        if part != set(range(1, size + 1)):
            return False
    if any(int(place.real) in inputs["blocked"][int(place.imag) - 1] for place in places):
        return False
    squares = {(one - other) ** 2 for one, other in permutations(places, 2)}
    lonely = any(all(abs(one - other) ** 2 > 2.5 for other in places - {one}) for one in places)
    seen = {
        "apart": any(square.real == 0 for square in squares),
        "knight": any(round(abs(square)) == 5 for square in squares),
        "corner": lonely,
    }[rules["sight"]]
    top, bottom = (next(place.real for place in places if place.imag == row) for row in (1, size))
    return not seen and (top < bottom) == (rules["pair"] == "left")


def right_discs(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str, answer: Any) -> bool:
    """One text of all pegs, changed by replacements."""
    word = "".join(answer)
    moves = [word[at : at + 2] for at in range(0, len(word), 2)]
    if len(moves) > inputs["moves"] or any(
        len(move) != 2 for move in (moves if asked == "a word of moves" else answer)
    ):
        return False
    state = {peg: "".join(map(str, pile)) for peg, pile in zip("ABC", inputs["start"], strict=True)}
    ways = {"next": "AB BA BC CB", "round": "AB BC CA"}[rules["way"]].split()
    for move in moves:
        if move not in ways or not state[move[0]]:
            return False
        disc, below = state[move[0]][-1], state[move[1]][-1:]
        if below:
            gap = int(below) - int(disc)
            if not {"size": gap > 0, "parity": gap % 2 == 1, "gap": gap not in (1, -1)}[rules["stack"]]:
                return False
        state[move[0]], state[move[1]] = state[move[0]][:-1], state[move[1]] + disc
    return [[int(one) for one in pile] for pile in state.values()] == inputs["goal"]
