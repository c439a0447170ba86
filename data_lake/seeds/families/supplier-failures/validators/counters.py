"""A queue of closed firms; each one counts down what its customers can still lose."""

from collections import deque

NEED = "one"
WANTED = "count"


def solution(inputs):
    try:
        suppliers = dict(enumerate(inputs["suppliers"], start=1))
        first = inputs["first"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "suppliers and first"}
    customers = {firm: [] for firm in suppliers}
    for firm, others in suppliers.items():
        for other in others:
            customers[other].append(firm)
    left = {firm: 1 if NEED == "one" else (len(others) + 1) // 2 for firm, others in suppliers.items()}
    days = {first: 0}
    queue = deque([first])
    while queue:
        firm = queue.popleft()
        for customer in customers[firm]:
            left[customer] -= 1
            if left[customer] == 0 and customer not in days:
                days[customer] = days[firm] + 1
                queue.append(customer)
    if WANTED == "numbers":
        return sum(days)
    return len(days) if WANTED == "count" else max(days.values())
