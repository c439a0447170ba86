"""Turn the date into a number of days since the first day of year 0, add, and turn it back."""

LEAP = "last"
DIRECTION = 1
PART = "day"


def solution(inputs):
    if not isinstance(inputs, dict) or {"months", "every", "date", "later"} - set(inputs):
        return {"status": "schema_error", "detail": "months, every, date, later"}
    months, every = inputs["months"], inputs["every"]
    extra = 2 if LEAP == "two" else 1
    long_month = 0 if LEAP == "first" else len(months) - 1
    year, month, day = inputs["date"]

    def before(year):
        """Days from the start of year 0 to that of `year`."""
        return year * sum(months) + extra * -(-year // every)

    def lengths(year):
        return [days + (extra if number == long_month and year % every == 0 else 0) for number, days in enumerate(months)]

    number = before(year) + sum(lengths(year)[: month - 1]) + day - 1 + DIRECTION * inputs["later"]
    year = number // (sum(months) + extra)
    while before(year + 1) <= number:
        year += 1
    while before(year) > number:
        year -= 1
    number -= before(year)
    for days in lengths(year):
        if number < days:
            return number + 1 if PART == "day" else days - number - 1
        number -= days
    return {"status": "schema_error", "detail": "date"}
