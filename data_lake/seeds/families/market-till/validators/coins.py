"""Every coin by itself in one list, taken out one at a time."""

COIN = "large"
FAILED = "undone"
ASKED = "given"


def solution(inputs):
    try:
        coins = [1] * inputs["ones"] + [value for value, count in inputs["till"] for _ in range(count)]
        sales = inputs["sales"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "till, ones, sales"}
    handed = []
    for price, paid in sales:
        before = list(coins)
        coins = coins + paid
        out = []
        while sum(paid) - price > sum(out):
            missing = sum(paid) - price - sum(out)
            coin = max((coin for coin in coins if coin <= missing), default=None) if COIN == "large" else min(coins)
            if coin is None or coin > missing:
                break
            coins.remove(coin)
            out.append(coin)
            if not coins:
                break
        if sum(out) < sum(paid) - price and FAILED == "undone":
            coins = before
        else:
            handed += out
    return {"given": len(handed), "held": len(coins), "worth": sum(coins)}[ASKED]
