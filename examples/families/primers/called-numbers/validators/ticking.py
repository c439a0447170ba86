"""Number after number is ticked off, and those that Ida's number is larger than are counted."""

ASKED = "among"


def solution(inputs):
    try:
        left, wanted = list(inputs["numbers"]), inputs["wanted"]
        called = len(left)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "numbers, wanted"}
    hits, below = 0, 0
    while left:
        number = left.pop()
        if number == wanted:
            hits += 1
        if number < wanted:
            below += 1
    if ASKED == "among":
        return "yes" if hits else "no"
    return "yes" if below == called else "no"
