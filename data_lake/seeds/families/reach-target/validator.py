"""Joins two numbers at a time until one is left; numbers that were seen with the same others are not tried again."""

from fractions import Fraction


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("cards"), list) or not isinstance(inputs.get("target"), int):
        return {"status": "schema_error", "detail": "cards, target"}
    tried = set()
    found = joined([(Fraction(card), str(card)) for card in inputs["cards"]], inputs["target"], tried)
    return found if found is not None else {"status": "schema_error", "detail": "no expression"}


def joined(parts, target, tried):
    if len(parts) == 1:
        return parts[0][1] if parts[0][0] == target else None
    key = tuple(sorted(value for value, _ in parts))
    if key in tried:
        return None
    tried.add(key)
    for first in range(len(parts)):
        for second in range(len(parts)):
            if first == second:
                continue
            rest = [part for place, part in enumerate(parts) if place not in (first, second)]
            for value, text in results(parts[first], parts[second], first < second):
                found = joined([*rest, (value, text)], target, tried)
                if found is not None:
                    return found
    return None


def results(left, right, once):
    (value, text), (other, said) = left, right
    if once:
        yield value + other, f"({text}+{said})"
        yield value * other, f"({text}*{said})"
    yield value - other, f"({text}-{said})"
    if other:
        yield value / other, f"({text}/{said})"
