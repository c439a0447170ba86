"""Multiply the lists out, one factor after the other."""

TURN = "none"
WANTED = "one"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("factors"), list) or not isinstance(inputs.get("power"), int):
        return {"status": "schema_error", "detail": "factors and power"}
    product = [1]
    for number, factor in enumerate(inputs["factors"], start=1):
        if TURN == "even" and number % 2 == 0:
            factor = factor[::-1]
        if TURN == "minus":
            factor = [-value if place % 2 else value for place, value in enumerate(factor)]
        following = [0] * (len(product) + len(factor) - 1)
        for left, one in enumerate(product):
            for right, other in enumerate(factor):
                following[left + right] += one * other
        product = following
    return sum(product[: inputs["power"] + 1]) if WANTED == "upto" else product[inputs["power"]]
