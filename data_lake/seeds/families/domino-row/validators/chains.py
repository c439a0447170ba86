"""How far each domino's own chain goes, worked out from the far end of the row: as far as the chain of the best domino it hits directly."""

TOUCH = "within"
SIDE = "right"
WANTED = "count"


def solution(inputs):
    if not isinstance(inputs, dict) or {"dominoes", "pushed"} - set(inputs):
        return {"status": "schema_error", "detail": "dominoes and pushed"}
    row, pushed = inputs["dominoes"], inputs["pushed"]
    end = {}
    for number in range(len(row), 0, -1) if SIDE == "right" else range(1, len(row) + 1):
        place, height = row[number - 1]
        length = height if TOUCH == "within" else height - 1
        if SIDE == "right":
            end[number] = max([end[other] for other in range(number + 1, len(row) + 1) if row[other - 1][0] <= place + length], default=number)
        else:
            end[number] = min([end[other] for other in range(1, number) if row[other - 1][0] >= place - length], default=number)
    low, high = sorted([pushed, end[pushed]])
    return {"count": high - low + 1, "last": end[pushed], "sum": (low + high) * (high - low + 1) // 2}[WANTED]
