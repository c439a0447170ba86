"""Whole days by division, then the rest."""

FREE = "deducted"
STARTED = "up"
DAY = 1440


def solution(inputs):
    if not isinstance(inputs, dict) or {"stays", "free", "unit", "price", "cap"} - set(inputs):
        return {"status": "schema_error", "detail": "stays, free, unit, price, cap"}

    def block(minutes):
        units = -(-minutes // inputs["unit"]) if STARTED == "up" else minutes // inputs["unit"]
        return min(inputs["cap"], units * inputs["price"])

    total = 0
    for stay in inputs["stays"]:
        if stay <= inputs["free"]:
            continue
        days, rest = divmod(stay - inputs["free"] if FREE == "deducted" else stay, DAY)
        total += days * block(DAY) + block(rest)
    return total
