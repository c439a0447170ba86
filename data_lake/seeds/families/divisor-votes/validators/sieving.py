"""Sets of multiples, member by member: union, symmetric difference, or what is in one of them and in no other."""

VOTES = "some"
WANTED = "count"


def solution(inputs):
    if not isinstance(inputs, dict) or {"divisors", "limit"} - set(inputs):
        return {"status": "schema_error", "detail": "divisors and limit"}
    chosen, before = set(), set()
    for divisor in inputs["divisors"]:
        multiples = set(range(divisor, inputs["limit"] + 1, divisor))
        if VOTES == "some":
            chosen |= multiples
        elif VOTES == "odd":
            chosen ^= multiples
        else:
            chosen = (chosen - multiples) | (multiples - before)
        before |= multiples
    return len(chosen) if WANTED == "count" else sum(chosen)
