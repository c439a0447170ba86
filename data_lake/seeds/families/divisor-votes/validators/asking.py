"""Ask every member about every integer."""

VOTES = "some"
WANTED = "count"


def solution(inputs):
    try:
        divisors, integers = inputs["divisors"], range(1, inputs["limit"] + 1)
        chosen = []
        for integer in integers:
            votes = sum(integer % divisor == 0 for divisor in divisors)
            if votes % 2 == 1 if VOTES == "odd" else votes == 1 if VOTES == "one" else votes > 0:
                chosen.append(integer)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "divisors and limit"}
    return sum(chosen) if WANTED == "sum" else len(chosen)
