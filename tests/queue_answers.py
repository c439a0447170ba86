"""Answers to questions on a queue by a program that shares nothing with its engines: everybody has a state,
and each minute is kept as a picture."""

from collections.abc import Mapping
from typing import Any

Person = dict[str, Any]


def letter(person: Person, called: Mapping[int, int]) -> str:
    """Return what becomes of a person: N never called, A at arrival, L later."""
    minute = called.get(person["no"])
    if minute is None:
        return "N"
    return "A" if minute == person["come"] else "L"


def of_queue(inputs: Mapping[str, Any], rules: Mapping[str, str], asked: str) -> Any:
    """The answer. asked: the question as the title says it."""
    people = [
        {"no": no, "come": row[0], "need": row[1], "card": [*row, 0][2], "state": "coming"}
        for no, row in enumerate(inputs["people"], 1)
    ]
    pictures = course(people, inputs["desks"], rules)
    ask, called = inputs["ask"], {person["no"]: person["called"] for person in people if "called" in person}
    waits = {
        person["no"]: called[person["no"]] - person["come"] for person in people if person["no"] in called
    }
    standing, served = (
        [list(picture.values()).count(state) for picture in pictures] for state in ("standing", "served")
    )
    calls = sorted((person for person in people if "called" in person), key=lambda item: item["call"])
    return {
        "who goes away": lambda: [person["no"] for person in people if person["no"] not in called],
        "when each is called": lambda: {str(number): minute for number, minute in called.items()},
        "in which order they are called": lambda: [call["no"] for call in calls],
        "the sum of the waits": lambda: sum(waits.values()),
        "the waits of those with priority": lambda: [
            waits[person["no"]] for person in people if person["card"] and person["no"] in waits
        ],
        "how long the line is": lambda: [
            dict(enumerate(standing)).get(minute, 0) for minute in range(1, ask["minute"] + 1)
        ],
        "who waits long": lambda: sorted(
            number for number, wait in waits.items() if wait >= ask["limit"] + 1
        ),
        "a word for what becomes of them": lambda: "".join(letter(person, called) for person in people),
        "when all are busy": lambda: [
            minute for minute, count in enumerate(served) if count == inputs["desks"]
        ],
    }[asked]()


def course(people: list[Person], desks: int, rules: Mapping[str, str]) -> list[dict[int, str]]:
    """Everybody's state in each minute, from minute 0 on; `called` and `call`, the minute and the place of
    the call, are noted with the persons."""
    pictures, shut = [{person["no"]: person["state"] for person in people}], [0] * desks
    while {"coming", "standing"} & {person["state"] for person in people} or any(shut):
        minute, line = len(pictures), [person for person in people if person["state"] == "standing"]
        shut = [max(left - 1, 0) for left in shut]
        for item in people:
            if item["state"] == "served":
                item["left"] -= 1
                item["state"] = "served" if item["left"] else "away"
        for item in people:
            if item["come"] == minute:
                item["state"] = "away" if turns_round(item, len(line), rules["leave"]) else "standing"
                line += [item] if item["state"] == "standing" else []
        while line and 0 in shut:
            item = called_next(line, minute, rules["next"])
            line.remove(item)
            item |= {
                "called": minute,
                "call": sum("called" in other for other in people) + 1,
                "state": "served",
            }
            item["left"], closed = service(item, minute, rules["pace"])
            shut[shut.index(0)] = item["left"] + closed
        for item in line:
            if gives_up(item, minute, rules["leave"]):
                item["state"] = "away"
        pictures.append({person["no"]: person["state"] for person in people})
    return pictures


def amount(key: str) -> tuple[str, int]:
    name, _, number = key.partition("_")
    return name, int(number or 0)


def called_next(line: list[Person], minute: int, key: str) -> Person:
    """line: in the order of arrival."""
    fewest, most = (kind([item["need"] for item in line]) for kind in (min, max))
    preferred = {
        "first": line,
        "last": line[::-1],
        "short": [item for item in line if item["need"] == fewest],
        "long": [item for item in line if item["need"] == most],
        "priority": [item for item in line if item["card"]],
        "common": [item for item in line if not item["card"]],
        "swing": line if minute % 2 else line[::-1],
        "odd": [item for item in line if item["no"] % 2],
    }[key]
    return (preferred or line)[0]


def turns_round(person: Person, standing: int, key: str) -> bool:
    name, k = amount(key)
    return {
        "full": standing >= k,
        "picky": standing >= k and not person["card"],
        "hasty": standing > 0 and person["need"] > k,
    }.get(name, False)


def gives_up(person: Person, minute: int, key: str) -> bool:
    name, k = amount(key)
    return (
        name in ("patience", "eager")
        and minute == person["come"] + k
        and not (name == "eager" and person["card"])
    )


def service(person: Person, minute: int, key: str) -> tuple[int, int]:
    """Minutes served, and closed after it."""
    name, k = amount(key)
    need, come, card = person["need"], person["come"], person["card"]
    less = {
        "hurry": minute - come > k,
        "favour": card == 1,
        "tired": -(minute >= k),
        "cut": max(need - k, 0),
    }.get(name, 0)
    return need - less, k if name == "breaks" else 0
