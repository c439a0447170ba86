"""Queues: some arrive, wait in one line, and are called and served; one unit of time after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evolake.families.text_solver.language import Meaning, Reader, Unreadable, opened, table

LONGEST = 2_000
"""Units of time that are gone through."""


@dataclass
class Guest:
    """One that arrives, at `time`, and is called at `called` and served to the end of `until`."""

    number: int
    time: int
    need: int
    flag: bool
    called: int | None = None
    until: int = 0

    @property
    def wait(self) -> int:
        """Return the time from arriving to being called."""
        return (self.called or self.time) - self.time


def read(text: str) -> Meaning:
    """Return the meaning of a text about a queue; raise Unreadable with what has none."""
    reader, values, setting = opened("queues", text)
    who, tables = setting["who"], table("queues")
    a = "an" if who[0] in "aeiou" else "a"
    reader.words = setting | {"Who": who.capitalize(), "Unit": setting["unit"].capitalize(), "a": a}
    for sentence in tables["frame"]["before"]:
        reader.take(sentence)
    known = reader.items(tables["known"])
    guests = [(found["n"], found["k"], found["m"], name == "with") for name, found in known]
    times = [time for _, time, *_ in guests]
    if [number for number, *_ in guests] != list(range(1, len(guests) + 1)) or times != sorted(set(times)):
        raise Unreadable("they are not numbered in the order of their arrival")
    for sentence in tables["frame"]["after"]:
        reader.take(sentence)
    rules = [reader.choose(tables[part], "- ") for part in ("next", "leave", "pace")]
    asked = Reader([" ".join(reversed(reader.rest))], reader.words)
    name, found = asked.choose(tables["questions"])
    about = {kind for kind, _ in (*rules, (name, found)) if "flagged" in kind}
    if about and any(kind == "plain" for kind, _ in known):
        raise Unreadable(f"who has {setting['flag']} is not said")

    def find() -> Any:
        people = [Guest(*guest) for guest in guests]
        lengths = _run(people, values["n"], rules, found.get("k", 0))
        return QUESTIONS[name](people, lengths, values["n"], **found)

    return Meaning(find, rules=reader.chosen)


def _run(people: list[Guest], desks: int, rules: list[tuple[str, dict[str, Any]]], last: int) -> list[int]:
    """Serve all, to unit `last` at least; return how many stand in the line at the end of each unit."""
    (pick, _), (leave, limit), (pace, of_pace) = rules
    line: list[Guest] = []
    free_from = [1] * desks
    lengths: list[int] = []
    now = 0
    while now < last or line or any(guest.time > now for guest in people):
        now += 1
        if now > LONGEST:
            raise Unreadable("too long to go through")
        line += [guest for guest in people if guest.time == now and JOINS[leave](guest, line, **limit)]
        for desk in range(desks):
            if line and free_from[desk] <= now:
                guest = NEXT[pick](line, now)
                line.remove(guest)
                guest.called = now
                served = PACE[pace](guest, **of_pace)
                if served < 1:
                    raise Unreadable("a service that takes no time")
                guest.until = now + served - 1
                free_from[desk] = now + served + (of_pace["k"] if pace == "closed" else 0)
        line = [guest for guest in line if STAYS[leave](guest, now, **limit)]
        lengths.append(len(line))
    return lengths


def _first(guests: list[Guest]) -> Guest:
    return min(guests, key=lambda guest: guest.number)


NEXT: dict[str, Callable[[list[Guest], int], Guest]] = {
    "flagged": lambda line, now: _first([guest for guest in line if guest.flag] or line),
    "unflagged": lambda line, now: _first([guest for guest in line if not guest.flag] or line),
    "odd": lambda line, now: _first([guest for guest in line if guest.number % 2] or line),
    "first": lambda line, now: line[0],
    "fewest": lambda line, now: min(line, key=lambda guest: (guest.need, guest.number)),
    "most": lambda line, now: min(line, key=lambda guest: (-guest.need, guest.number)),
    "last": lambda line, now: max(line, key=lambda guest: guest.number),
    "ends": lambda line, now: line[0] if now % 2 else line[-1],
}
JOINS: dict[str, Callable[..., bool]] = {
    "nobody": lambda guest, line: True,
    "patience": lambda guest, line, k: True,
    "patience_unflagged": lambda guest, line, k: True,
    "room": lambda guest, line, k: len(line) < k,
    "room_unflagged": lambda guest, line, k: guest.flag or len(line) < k,
    "long": lambda guest, line, k: guest.need <= k or not line,
}
STAYS: dict[str, Callable[..., bool]] = {
    "nobody": lambda guest, now: True,
    "patience": lambda guest, now, k: now < guest.time + k,
    "patience_unflagged": lambda guest, now, k: guest.flag or now < guest.time + k,
    "room": lambda guest, now, k: True,
    "room_unflagged": lambda guest, now, k: True,
    "long": lambda guest, now, k: True,
}
PACE: dict[str, Callable[..., int]] = {
    "needed": lambda guest: guest.need,
    "closed": lambda guest, k: guest.need,
    "waited": lambda guest, k: guest.need - (guest.wait > k),
    "most": lambda guest, k: min(guest.need, k),
    "before": lambda guest, k: guest.need + (guest.called >= k),
}


def _letter(guest: Guest) -> str:
    if guest.called is None:
        return "N"
    return "L" if guest.wait else "A"


def _served(people: list[Guest]) -> list[Guest]:
    return [guest for guest in people if guest.called is not None]


def _busy(people: list[Guest], lengths: list[int], desks: int) -> list[int]:
    served = _served(people)
    last = max((guest.until for guest in served), default=0)
    return [
        now
        for now in range(1, last + 1)
        if sum((guest.called or 0) <= now <= guest.until for guest in served) == desks
    ]


QUESTIONS: dict[str, Callable[..., Any]] = {
    "letters": lambda people, lengths, desks: "".join(map(_letter, people)),
    "lengths": lambda people, lengths, desks, k: lengths[:k],
    "called": lambda people, lengths, desks: {guest.number: guest.called for guest in _served(people)},
    "busy": _busy,
    "wait_sum": lambda people, lengths, desks: sum(guest.wait for guest in _served(people)),
    "waits_flagged": lambda people, lengths, desks: [g.wait for g in _served(people) if g.flag],
    "waits_unflagged": lambda people, lengths, desks: [g.wait for g in _served(people) if not g.flag],
}
