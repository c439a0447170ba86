"""Packs by division, kind by kind, with the rest carried on."""

REST = "kept"
SALE = 0


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("dinners"), list) or {"packs", "people"} - set(inputs):
        return {"status": "schema_error", "detail": "packs, dinners, people"}
    cents = 0
    for name, grams, price in inputs["packs"]:
        left = 0
        for dinner in inputs["dinners"]:
            needed = inputs["people"] * sum(amount for used, amount in dinner if used == name)
            bought = max(0, -(-(needed - left) // grams))
            cents += price * (bought - (bought // SALE if SALE else 0))
            left = left + bought * grams - needed if REST == "kept" else 0
    return cents
