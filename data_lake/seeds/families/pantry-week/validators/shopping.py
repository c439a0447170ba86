"""Dinner by dinner, a pack at a time is put into the basket until it is enough."""

REST = "kept"
SALE = 0


def solution(inputs):
    try:
        shop = {name: (grams, price) for name, grams, price in inputs["packs"]}
        dinners, people = inputs["dinners"], inputs["people"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "packs, dinners, people"}
    pantry = dict.fromkeys(shop, 0)
    paid = []
    for dinner in dinners:
        for name, amount in dinner:
            basket = 0
            while pantry[name] < amount * people:
                basket += 1
                pantry[name] += shop[name][0]
                if not SALE or basket % SALE:
                    paid.append(shop[name][1])
            pantry[name] -= amount * people
        if REST == "given":
            pantry = dict.fromkeys(shop, 0)
    return sum(paid)
