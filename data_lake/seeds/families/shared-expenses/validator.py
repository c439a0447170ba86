"""What the asked friend has paid, less the friend's shares."""

SHARE = "all"
SIGN = 1


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("expenses"), list) or not isinstance(inputs.get("asked"), int):
        return {"status": "schema_error", "detail": "expenses and asked"}
    asked = inputs["asked"]
    paid = sum(amount for payer, amount, _ in inputs["expenses"] if payer == asked)
    shares = 0
    for payer, amount, sharers in inputs["expenses"]:
        if asked in sharers and (SHARE == "all" or asked != payer):
            shares += amount // (len(sharers) - (SHARE == "others"))
    return SIGN * (paid - shares)
