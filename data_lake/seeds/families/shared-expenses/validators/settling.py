"""Settle for real: whoever has borne too little hands over money to whoever has borne too much, until all is even."""

SHARE = "all"
SIGN = 1


def solution(inputs):
    if not isinstance(inputs, dict) or {"count", "expenses", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "count, expenses, asked"}
    too_much = [0] * (inputs["count"] + 1)
    for payer, amount, sharers in inputs["expenses"]:
        bearers = set(sharers) - ({payer} if SHARE == "others" else set())
        too_much[payer] += amount
        for bearer in bearers:
            too_much[bearer] -= amount // len(bearers)
    received = 0
    while max(too_much) > 0:
        creditor, debtor = too_much.index(max(too_much)), too_much.index(min(too_much))
        handed = min(too_much[creditor], -too_much[debtor])
        too_much[creditor] -= handed
        too_much[debtor] += handed
        if creditor == inputs["asked"]:
            received += handed
        if debtor == inputs["asked"]:
            received -= handed
    return received * SIGN
