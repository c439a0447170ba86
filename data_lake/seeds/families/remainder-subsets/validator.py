"""Dynamic programming over (remainder, parity of the number of cards)."""

FOLD = "sum"
SIZE = "any"


def solution(inputs):
    if not isinstance(inputs, dict) or not {"cards", "modulus", "remainder"} <= set(inputs):
        return {"status": "schema_error", "detail": "cards, modulus, remainder"}
    modulus = inputs["modulus"]
    start = 1 % modulus if FOLD == "product" else 0
    ways = {(start, 0): 1}
    for card in inputs["cards"]:
        following = dict(ways)
        for (value, parity), count in ways.items():
            if FOLD == "product":
                value = value * card % modulus
            else:
                value = (value + (card * card if FOLD == "squares" else card)) % modulus
            key = (value, 1 - parity)
            following[key] = following.get(key, 0) + count
        ways = following
    ways[(start, 0)] -= 1
    wanted = {"any": (0, 1), "even": (0,), "odd": (1,)}[SIZE]
    return sum(ways.get((inputs["remainder"], parity), 0) for parity in wanted)
