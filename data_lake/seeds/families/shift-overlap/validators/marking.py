"""A counter for every minute of the day."""

ENDS = "open"
SAFE = "least"


def solution(inputs):
    try:
        shifts, least = inputs["shifts"], inputs["least"]
        present = [0] * (max(end for _, end in shifts) + 2)
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "shifts and least"}
    for start, end in shifts:
        for minute in range(start, end + 1 if ENDS == "closed" else end):
            present[minute] += 1
    used = [minute for minute, number in enumerate(present) if number]
    day = present[used[0] : used[-1] + 1] if used else []
    return sum(number >= least for number in day) if SAFE == "least" else day.count(least)
