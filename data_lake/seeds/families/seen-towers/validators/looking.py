"""Every pair of towers, with all that stand between them."""

from itertools import combinations

BETWEEN = "lower"
ASKED = "pairs"


def solution(inputs):
    try:
        towers, apart = list(enumerate(inputs["heights"])), inputs["apart"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "heights and apart"}
    total = 0
    for (west, left), (east, right) in combinations(towers, 2):
        low = min(left, right)
        hidden = any(height > low or (height == low and BETWEEN == "lower") for _, height in towers[west + 1 : east])
        if east - west < apart or hidden:
            continue
        if ASKED == "pairs":
            total += 1
        elif ASKED == "places":
            total += east - west
        else:
            total += max(left, right) - low
    return total
