"""As many strokes as each number says; round after round one stroke of each is wiped out and counted."""

ASKED = "sum"


def solution(inputs):
    try:
        strokes = [["|"] * number for number in inputs["numbers"]]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "numbers"}
    total = 0
    while any(strokes):
        for row in strokes:
            if row:
                row.pop()
                total += ASKED == "sum"
        total += ASKED == "largest"
    return total
