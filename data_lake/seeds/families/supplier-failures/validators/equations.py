"""Each firm's closing day is one more than the day of the supplier that decides, the first or the middle one; lower days until all equations hold."""

from math import inf, isinf

NEED = "one"
WANTED = "count"


def solution(inputs):
    if not isinstance(inputs, dict) or {"suppliers", "first"} - set(inputs):
        return {"status": "schema_error", "detail": "suppliers and first"}
    suppliers = inputs["suppliers"]
    day = [inf] * (len(suppliers) + 1)
    day[inputs["first"]] = 0
    changed = True
    while changed:
        changed = False
        for firm in range(len(suppliers), 0, -1):
            order = sorted(day[other] for other in suppliers[firm - 1])
            if order:
                deciding = order[0 if NEED == "one" else (len(order) - 1) // 2]
                if deciding + 1 < day[firm]:
                    day[firm] = deciding + 1
                    changed = True
    closed = [firm for firm, number in enumerate(day) if not isinf(number)]
    if WANTED == "day":
        return max(day[firm] for firm in closed)
    return len(closed) if WANTED == "count" else sum(closed)
