"""A sieve: all codes, of which each attempt leaves those that fit it; pairs are counted by how often each digit occurs."""

from collections import Counter
from itertools import product

REPEAT = True
SECOND = "misplaced"
WANTED = "smallest"


def solution(inputs):
    try:
        length, kinds, tries = inputs["length"], "".join(map(str, range(1, inputs["digits"] + 1))), inputs["tries"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "length, digits, tries"}
    left = ["".join(code) for code in product(kinds, repeat=length) if REPEAT or len(set(code)) == length]
    for tried, right, other in sorted(tries, key=lambda attempt: -attempt[1]):
        tried = str(tried)
        left = [code for code in left if sum(map(str.__eq__, code, tried)) == right]
        if SECOND == "sums":
            left = [code for code in left if sum(map(int, code)) - sum(map(int, tried)) in (other, -other)]
        else:
            left = [code for code in left if (Counter(code) & Counter(tried)).total() == right + other]
    if not left:
        return {"status": "schema_error", "detail": "no code is possible"}
    return int(min(left) if WANTED == "smallest" else max(left))
