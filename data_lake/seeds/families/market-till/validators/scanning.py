"""The till as one sorted row of coins: change is one pass along it. Worth and number in the till follow from what came in and went out."""

COIN = "large"
FAILED = "undone"
ASKED = "given"


def change(row, missing):
    """(coins that stay, coins handed out, what is still missing)."""
    stay, out = [], []
    for place, coin in enumerate(row):
        if coin <= missing:
            out.append(coin)
            missing -= coin
        elif COIN == "small":
            return stay + row[place:], out, missing
        else:
            stay.append(coin)
    return stay, out, missing


def solution(inputs):
    if not isinstance(inputs, dict) or {"till", "ones", "sales"} - set(inputs):
        return {"status": "schema_error", "detail": "till, ones, sales"}
    row = [value for value, count in [*inputs["till"], [1, inputs["ones"]]] for _ in range(count)]
    number, worth, handed = len(row), sum(row), 0
    for price, paid in inputs["sales"]:
        stay, out, missing = change(sorted(row + paid, reverse=COIN != "small"), sum(paid) - price)
        if missing == 0 or FAILED == "stopped":
            row = stay
            number += len(paid) - len(out)
            worth += price + missing
            handed += len(out)
    if ASKED == "worth":
        return worth
    return handed if ASKED == "given" else number
