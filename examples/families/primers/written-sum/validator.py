"""Number after number, with what has been asked for so far."""

ASKED = "sum"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("numbers"), list):
        return {"status": "schema_error", "detail": "numbers"}
    found = 0
    for number in inputs["numbers"]:
        if ASKED == "sum":
            found += number
        elif number > found:
            found = number
    return found
