"""Kinds with one answer: cells, a cipher, ballots, words, a network, a picture, rewriting, a field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise, product
from string import ascii_uppercase
from typing import Any

from evolake.families.text_solver.language import Meaning, Reader, Unanswerable, Unreadable, known, read_kind

MOST = 100_000
"""Words, or changes of cells."""
Finder = Callable[[], Any]


def read(text: str) -> Meaning:
    """Return the meaning of a text of one of these kinds; raise Unreadable with what has none."""
    return read_kind("computed", KINDS, text)


def _small(number: int) -> None:
    if number > MOST:
        raise Unreadable(f"too large: {number}")


def _cells(reader: Reader, tables: dict[str, Any]) -> Finder:
    row = [letter == "X" for letter in reader.take(tables["row"])["letters"]]
    steps = reader.take(tables["steps"])["k"]
    reader.take(tables["turns"])
    change, border = (reader.choose(tables[kind], "- ")[0] for kind in ("change", "border"))
    name, _ = reader.question(tables["questions"])
    _small(steps * len(row))

    def find() -> Any:
        rows = [row]
        for _ in range(steps):
            now = rows[-1]
            ends = {"round": [now[-1], now[0]], "off": [False] * 2, "on": [True] * 2}[border]
            wide = [ends[0], *now, ends[1]]
            rows.append([CHANGES[change](*wide[at : at + 3]) for at in range(len(now))])
        if name == "row":
            return "".join("X" if one else "O" for one in rows[-1])
        counted = rows[1:] if name == "each_step" else list(zip(*rows[1:], strict=True))
        return [sum(one) for one in counted]

    return find


CHANGES: dict[str, Callable[[bool, bool, bool], bool]] = {
    "one": lambda left, own, right: left + right == 1,
    "odd": lambda left, own, right: (left + own + right) % 2 == 1,
    "unlike": lambda left, own, right: 0 < left + own + right < 3,
    "right": lambda left, own, right: own + right == 1,
}


def _cipher(reader: Reader, tables: dict[str, Any]) -> Finder:
    key, width = reader.take(tables["key"]).values()
    reader.take(tables["steps"])
    shift, order = (reader.choose(tables[kind], "- ")[0] for kind in ("shift", "order"))
    reader.take(tables["forward"])
    name, values = reader.question(tables["questions"])
    word = values["letters"]
    if not width:
        raise Unreadable("a width of 0")

    def by(at: int, before: str) -> int:
        shifts = {"same": key, "more": key + at, "turns": key if at % 2 == 0 else -key}
        if shift == "before" and at:
            return ascii_uppercase.index(before) + 1
        return shifts.get(shift, key)

    def moved(letter: str, places: int) -> str:
        return ascii_uppercase[(ascii_uppercase.index(letter) + places) % len(ascii_uppercase)]

    def places() -> list[int]:
        """Return the place in the word of each letter of the result."""
        column = {"left": lambda at: at % width, "right": lambda at: -(at % width)}
        if order == "blocks":
            return sorted(range(len(word)), key=lambda at: (at // width, -at))
        return sorted(range(len(word)), key=lambda at: (column[order](at), at))

    def coded(one: str) -> str:
        letters = [moved(letter, by(at, one[at - 1])) for at, letter in enumerate(one)]
        return "".join(letters[at] for at in places())

    def find() -> Any:
        if name == "becomes":
            return coded(word)
        if name == "three":
            words = [word]
            for _ in range(3):
                words.append(coded(words[-1]))
            return words[1:]
        plain = ""
        for _, letter in sorted(zip(places(), word, strict=True)):
            plain += moved(letter, -by(len(plain), plain[-1:]))
        return plain

    return find


def _ballots(reader: Reader, tables: dict[str, Any]) -> Finder:
    names = reader.take(tables["names"])["list"]
    reader.take(tables["lists"])
    lists: list[tuple[int, list[str]]] = []
    while (found := reader.maybe(tables["list"])) is not None:
        if sorted(found["list"]) != sorted(set(names)):
            raise Unreadable(f"a list of other names: {found['list']}")
        lists.append((found["k"], found["list"]))
    for sentence in tables["rounds"]:
        reader.take(sentence)
    out, equal = (reader.choose(tables[kind], "- ")[0] for kind in ("out", "equal"))
    name, _ = reader.question(tables["questions"])

    def find() -> Any:
        left, gone = sorted(names, reverse=equal == "late"), []
        while left:
            stays: Counter[str] = Counter()
            for number, whole in lists:
                ranks = [one for one in whole if one in left]
                for at, one in enumerate(ranks):
                    behind = len(ranks) - 1 - at
                    stays[one] += number * {"front": at == 0, "end": behind > 0, "points": behind}[out]
            gone.append(min(left, key=lambda one, stays=stays: stays[one]))
            left.remove(gone[-1])
        if name == "order":
            return gone
        return {one: gone.index(one) + 1 if one != gone[-1] else 0 for one in names}

    return find


def _words(reader: Reader, tables: dict[str, Any]) -> Finder:
    found = reader.take(tables["letters"])
    length, letters = found["k"], found["list"]
    pieces = reader.take(tables["pieces"])["list"]
    reader.take(tables["hold"])
    rules = [rule for rule, _ in reader.items(tables["rules"])]
    reader.take(tables["numbered"])
    name, values = reader.question(tables["questions"])
    if len(set(letters)) < len(letters) or not 1 <= length <= 12 or not values["k"]:
        raise Unreadable("a letter twice, no letters, or no number")
    _small(len(letters) ** length)

    def find() -> Any:
        kept = [
            word
            for word in map("".join, product(sorted(letters), repeat=length))
            if all(WORDS[rule](word) for rule in rules) and not any(piece in word for piece in pieces)
        ]
        some = kept[values["k"] - 1 :][: 3 if name == "three" else 1]
        if len(some) < (3 if name == "three" else 1):
            raise Unanswerable(f"there are {len(kept)} words")
        if name == "letters":
            return {letter: some[0].count(letter) for letter in letters}
        return some if name == "three" else some[0]

    return find


WORDS: dict[str, Callable[[str], bool]] = {
    "no_twin": lambda word: all(one != other for one, other in pairwise(word)),
    "twin": lambda word: any(one == other for one, other in pairwise(word)),
    "twice": lambda word: max(Counter(word).values()) <= 2,
    "same_ends": lambda word: word[0] == word[-1],
    "rising": lambda word: word[0] < word[-1],
    "falling": lambda word: word[0] > word[-1],
}


def _network(reader: Reader, tables: dict[str, Any]) -> Finder:
    names = reader.take(tables["names"])["list"]
    reader.take(tables["lines"])
    lines: list[tuple[str, str, int]] = []
    while (found := reader.maybe(tables["line"])) is not None:
        known(names, found)
        lines.append((found["a"], found["b"], found["k"]))
    for sentence in tables["tree"]:
        reader.take(sentence)
    given, want = (reader.choose(tables[kind], "- ")[0] for kind in ("given", "want"))
    name, _ = reader.question(tables["questions"])
    if len({cost for *_, cost in lines}) < len(lines) or len({frozenset(line[:2]) for line in lines}) < len(
        lines
    ):
        raise Unreadable("the costs are not different, or a pair stands twice")

    def find() -> Any:
        usable = lines[1:] if given == "without" else lines
        forced = {"first": lines[:1], "last": lines[-1:]}.get(given, [])
        order = sorted(usable, key=lambda line: (line not in forced, -line[2] if want == "most" else line[2]))
        # a line is built if those before it do not join its ends
        built = [line for at, line in enumerate(order) if line[1] not in _reached(line[0], [*order[:at]])]
        away = _reached(names[0], built)
        if len(away) < len(names):
            raise Unanswerable("not all places can be joined")
        if name == "costs":
            return sorted(cost for *_, cost in built)
        if name == "degrees":
            return {one: sum(one in line[:2] for line in built) for one in names}
        return {one: away[one] for one in names[1:]}

    return find


def _reached(start: str, lines: list[tuple[str, str, int]]) -> dict[str, int]:
    """Return how many lines away each place is that can be reached."""
    found, edge = {start: 0}, [start]
    for place in edge:
        for one, other, _ in lines:
            for here, there in ((one, other), (other, one)):
                if here == place and there not in found:
                    found[there] = found[place] + 1
                    edge.append(there)
    return found


def _picture(reader: Reader, tables: dict[str, Any]) -> Finder:
    rows: list[list[str]] = []
    while (found := reader.maybe(tables["row"])) is not None:
        rows.append(found["list"])
        if found["k"] != len(rows) or any(len(letter) != 1 for letter in found["list"]):
            raise Unreadable(f"not a row of letters in its place: {found['k']}")
    size = len(rows)
    if not size or any(len(row) != size for row in rows):
        raise Unreadable("not a square")
    commands = reader.take(tables["commands"])["words"]
    reader.take(tables["do"])
    does = {name: MOVES[reader.choose(tables[name], "- ")[0]] for name in ("turn", "flip", "push")}
    name, _ = reader.question(tables["questions"])
    if set(commands) - set(does):
        raise Unreadable(f"another command: {commands}")
    _small(len(commands) * size * size)

    def find() -> Any:
        end = [[""] * size for _ in rows]
        for row, letters in enumerate(rows):
            for column, letter in enumerate(letters):
                place = row, column
                for command in commands:
                    place = does[command](*place, size)
                end[place[0]][place[1]] = letter
        if name == "rows":
            return ["".join(row) for row in end]
        if name == "across":
            return "".join(end[place][place] for place in range(size))
        return {side: "".join(row[at] for row in end) for side, at in (("left", 0), ("right", -1))}

    return find


MOVES: dict[str, Callable[[int, int, int], tuple[int, int]]] = {
    "right": lambda row, column, size: (column, size - 1 - row),
    "left": lambda row, column, size: (size - 1 - column, row),
    "across": lambda row, column, size: (row, size - 1 - column),
    "over": lambda row, column, size: (size - 1 - row, column),
    "swap": lambda row, column, size: (column, row),
    "top": lambda row, column, size: (row, (column + (row == 0)) % size),
    "side": lambda row, column, size: ((row + (column == 0)) % size, column),
    "down": lambda row, column, size: ((row + 1) % size, column),
}
"""Where a letter goes, by the meanings of commands."""


def _rewriting(reader: Reader, tables: dict[str, Any]) -> Finder:
    start = reader.take(tables["start"])["word"]
    reader.take(tables["rules"])
    rules: list[tuple[str, str]] = []
    while (found := reader.maybe(tables["rule"])) is not None:
        rules.append((found["word"], found["word1"]))
        if found["k"] != len(rules):
            raise Unreadable(f"a rule with another number: {found['k']}")
    steps = reader.take(tables["steps"])["k"]
    which, where = (reader.choose(tables[kind])[0] for kind in ("which", "where"))
    reader.take(tables["idle"])
    name, _ = reader.question(tables["questions"])
    _small(steps * (len(start) + steps * max((len(new) for _, new in rules), default=0)))

    def find() -> Any:
        word, used = start, []
        for _ in range(steps):
            fitting = [number for number, (old, _) in enumerate(rules, 1) if old in word]
            chosen = fitting[:1] if which == "lowest" else fitting[-1:]
            used.append(chosen[0] if chosen else 0)
            if fitting:
                old, new = rules[used[-1] - 1]
                at = word.index(old) if where == "left" else word.rindex(old)
                word = word[:at] + new + word[at + len(old) :]
        return word if name == "end" else used

    return find


def _field(reader: Reader, tables: dict[str, Any]) -> Finder:
    at = reader.take(tables["corners"])
    corners = [(at["k"], at["l"]), (at["m"], at["n"]), (at["p"], at["q"])]
    reader.take(tables["posts"])
    posts: dict[str, tuple[int, int]] = {}
    while (found := reader.maybe(tables["one"])) is not None:
        if found["a"] in posts:
            raise Unreadable(f"twice: {found['a']}")
        posts[found["a"]] = found["k"], found["l"]
    edge, _ = reader.choose(tables["edge"])
    name, _ = reader.question(tables["questions"])
    _small(max(east for east, _ in corners) * max(north for _, north in corners))

    def inside(east: int, north: int) -> bool:
        sides = [
            (x - a) * (north - b) - (y - b) * (east - a)
            for (a, b), (x, y) in pairwise([*corners, corners[0]])
        ]
        if min(sides) < 0 < max(sides):
            return False
        if 0 not in sides or edge == "counts":
            return True
        return edge == "between" and (east, north) not in corners

    def find() -> Any:
        if name == "posts":
            return sorted(one for one, place in posts.items() if inside(*place))
        easts, norths = (range(max(values) + 1) for values in zip(*corners, strict=True))
        counts = {north: sum(inside(east, north) for east in easts) for north in norths}
        return {north: count for north, count in counts.items() if count}

    return find


Statement = tuple[str, str, str]
MOST_KINDS = 6


def _kinds(reader: Reader, tables: dict[str, Any]) -> Finder:
    names = reader.take(tables["names"])["words"]

    def said(start: str) -> Statement:
        meaning, values = reader.choose(tables["said"], start)
        if not {values["word"], values["word1"]} <= set(names) or values["word"] == values["word1"]:
            raise Unreadable(f"not two of the kinds: {values}")
        return meaning, values["word"], values["word1"]

    reader.take(tables["known"])
    known, claims = [], []
    while reader.next.startswith("- "):
        known.append(said("- "))
    reader.take(tables["judge"])
    while reader.next.startswith("- Statement "):
        claims.append(said(f"- Statement {len(claims) + 1}: "))
    reader.take(tables["hold"])
    some, empty = (reader.choose(tables[kind], "- ")[0] for kind in ("some", "empty"))
    name, _ = reader.question(tables["questions"])
    if len(names) > MOST_KINDS:
        raise Unreadable(f"too large: {len(names)} kinds")
    # a thing is the set of its kinds; a fact is that there is none, or one, in a region of such things
    things = [frozenset(some) for some in _subsets(names)]

    def facts(statement: Statement) -> list[tuple[bool, frozenset[frozenset[str]]]]:
        meaning, one, other = statement
        both = frozenset(thing for thing in things if {one, other} <= thing)
        only = frozenset(thing for thing in things if one in thing and other not in thing)
        if meaning in ("all", "no"):
            return [(False, only if meaning == "all" else both)]
        if some == "part":
            return [(True, both), (True, only)]
        return [(True, both if meaning == "some" else only)]

    def fit(given: list[tuple[bool, frozenset[frozenset[str]]]]) -> bool:
        left = set(things).difference(*(region for is_one, region in given if not is_one))
        return all(left & region for is_one, region in given if is_one)

    def find() -> Any:
        given = [fact for statement in known for fact in facts(statement)]
        if empty == "none":
            given += [(True, frozenset(thing for thing in things if one in thing)) for one in names]
        if not fit(given):
            raise Unanswerable("what is known cannot all be true")
        word = ""
        for claim in claims:
            own = facts(claim)
            opposites = [(not is_one, region) for is_one, region in own]
            false, true = not fit(given + own), not any(fit([*given, one]) for one in opposites)
            word += {(True, False): "F", (False, True): "T"}.get((false, true), "U")
        lists = {
            key: [at for at, one in enumerate(word, 1) if one == letter]
            for key, letter in tables["list"].items()
        }
        return {"word": word, "true": lists["true"], "each": lists}[name]

    return find


def _subsets(names: list[str]) -> list[list[str]]:
    return [
        [name for name, there in zip(names, chosen, strict=True) if there]
        for chosen in product((False, True), repeat=len(names))
    ]


KINDS: dict[str, Callable[[Reader, dict[str, Any]], Finder]] = {
    "cells": _cells,
    "cipher": _cipher,
    "ballots": _ballots,
    "words": _words,
    "network": _network,
    "picture": _picture,
    "rewriting": _rewriting,
    "field": _field,
    "kinds": _kinds,
}
