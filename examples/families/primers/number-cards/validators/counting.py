"""Counting up until as many cards have been passed as it takes."""

END = "largest"


def solution(inputs):
    try:
        left = set(inputs["cards"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "cards"}
    last = 1 if END == "largest" else len(left)
    number = 0
    while True:
        if number in left:
            if len(left) == last:
                return number
            left.remove(number)
        number += 1
