"""All orders of the persons are listed and looked at."""

from itertools import permutations

LEFT = "any"
REACH = "most"


def solution(inputs):
    try:
        people, left, chosen, apart = inputs["people"], inputs["left"], inputs["chosen"], inputs["apart"]
        orders = permutations(range(1, people + 1))
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "people, left, chosen, apart"}
    between = {"any": 0, "gap": 1}[LEFT]
    good = 0
    for order in orders:
        place = order.index
        if all(place(two) > place(one) + between for one, two in left):
            good += all((abs(place(one) - place(two)) > apart) is (REACH == "more") for one, two in chosen)
    return good
