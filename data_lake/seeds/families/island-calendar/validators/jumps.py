"""Jump over whole months as long as the days suffice, always counting from the first of a month."""

LEAP = "last"
DIRECTION = 1
PART = "day"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("months"), list) or not isinstance(inputs.get("date"), list):
        return {"status": "schema_error", "detail": "months, every, date, later"}
    ordinary = inputs["months"]
    if LEAP == "first":
        long_year = [ordinary[0] + 1, *ordinary[1:]]
    else:
        long_year = [*ordinary[:-1], ordinary[-1] + (2 if LEAP == "two" else 1)]
    year, month, day = inputs["date"]
    offset = day - 1 + inputs["later"] if DIRECTION == 1 else day - 1 - inputs["later"]
    place = year * len(ordinary) + month - 1

    def days(place):
        year, month = divmod(place, len(ordinary))
        return (ordinary if year % inputs["every"] else long_year)[month]

    while offset < 0:
        place -= 1
        offset += days(place)
    while offset >= days(place):
        offset -= days(place)
        place += 1
    return {"day": offset + 1, "left": days(place) - offset - 1}[PART]
