"""Every code in order; the first one whose signals are all as seen."""

from itertools import permutations, product

REPEAT = True
SECOND = "misplaced"
WANTED = "smallest"


def signals(code, tried):
    """Strike out equal places first, then each digit that has a partner."""
    rest, others = [], []
    for one, two in zip(code, tried, strict=True):
        if one != two:
            rest.append(one)
            others.append(two)
    right = len(code) - len(rest)
    if SECOND == "sums":
        return right, abs(sum(map(int, code)) - sum(map(int, tried)))
    moved = 0
    for digit in others:
        if digit in rest:
            rest.remove(digit)
            moved += 1
    return right, moved


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("tries"), list) or not isinstance(inputs.get("length"), int):
        return {"status": "schema_error", "detail": "length, digits, tries"}
    kinds = [str(digit) for digit in range(1, inputs["digits"] + 1)]
    if WANTED == "largest":
        kinds.reverse()
    codes = product(kinds, repeat=inputs["length"]) if REPEAT else permutations(kinds, inputs["length"])
    for code in codes:
        if all(signals(code, str(tried)) == (right, other) for tried, right, other in inputs["tries"]):
            return int("".join(code))
    return {"status": "schema_error", "detail": "no code is possible"}
