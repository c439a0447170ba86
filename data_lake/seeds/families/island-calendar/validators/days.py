"""Day after day, like tearing leaves off a calendar."""

LEAP = "last"
DIRECTION = 1
PART = "day"


def solution(inputs):
    try:
        months, every, left = inputs["months"], inputs["every"], inputs["later"]
        year, month, day = inputs["date"]
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "months, every, date, later"}

    def length(year, month):
        grows = month == (1 if LEAP == "first" else len(months)) and not year % every
        return months[month - 1] + grows * (1 + (LEAP == "two"))

    while left:
        left -= 1
        day += DIRECTION
        if day > length(year, month):
            day, month = 1, month + 1
            if month > len(months):
                month, year = 1, year + 1
        elif day == 0:
            month -= 1
            if month == 0:
                month, year = len(months), year - 1
            day = length(year, month)
    return length(year, month) - day if PART == "left" else day
