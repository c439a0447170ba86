"""The relation as rows of bits with everybody a friend of oneself; an evening is a product of such tables."""

MEET = "any"
ASKED = "pairs"


def product(left, right):
    rows = []
    for row in left:
        joined = 0
        for person, other in enumerate(right):
            if row >> person & 1:
                joined |= other
        rows.append(joined)
    return rows


def solution(inputs):
    if not isinstance(inputs, dict) or {"count", "friends", "evenings"} - set(inputs):
        return {"status": "schema_error", "detail": "count, friends, evenings"}
    count = inputs["count"]
    first = [1 << person for person in range(count)]
    for one, other in inputs["friends"]:
        first[one - 1] |= 1 << other - 1
        first[other - 1] |= 1 << one - 1
    table = first
    for _ in range(inputs["evenings"]):
        table = product(table, table if MEET == "any" else first)
    ones = sum(bin(row).count("1") for row in table)
    return {
        "pairs": (ones - count) // 2, "strangers": (count * count - ones) // 2, "popular": max(bin(row).count("1") for row in table) - 1,
    }[ASKED]
