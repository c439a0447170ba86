"""Walk every route to its end and count the roadworks on it."""

STEPS = "straight"
LIMIT = "most"


def routes(x, y, works, left, target):
    """Routes from (x, y) on which `left` more roadworks are allowed."""
    if (x, y) in works:
        left -= 1
    if left < 0 or x > target[0] or y > target[1]:
        return 0
    if (x, y) == target:
        return int(LIMIT != "exactly" or left == 0)
    found = routes(x + 1, y, works, left, target) + routes(x, y + 1, works, left, target)
    if STEPS == "diagonal":
        found += routes(x + 1, y + 1, works, left, target)
    return found


def solution(inputs):
    try:
        works = {(x, y) for x, y in inputs["closed"]}
        target, left = (inputs["east"], inputs["north"]), inputs["allowed"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "east, north, closed, allowed"}
    return routes(0, 0, works, left, target)
