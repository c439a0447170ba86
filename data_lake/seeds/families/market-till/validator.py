"""Numbers of coins by value; as many of a value as fit are taken at once."""

COIN = "large"
FAILED = "undone"
ASKED = "given"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("sales"), list) or {"till", "ones"} - set(inputs):
        return {"status": "schema_error", "detail": "till, ones, sales"}
    till = {100: 0, 1: inputs["ones"]} | dict(inputs["till"])
    order = sorted(till, reverse=COIN == "large")
    given = 0
    for price, paid in inputs["sales"]:
        after = dict(till)
        for coin in paid:
            after[coin] += 1
        missing, taken = sum(paid) - price, 0
        for value in order:
            number = min(after[value], missing // value)
            after[value] -= number
            missing -= number * value
            taken += number
            if COIN == "small" and after[value]:
                break
        if missing and FAILED == "undone":
            continue
        till = after
        given += taken
    if ASKED == "given":
        return given
    return sum(till.values()) if ASKED == "held" else sum(value * count for value, count in till.items())
