"""A meter that runs minute by minute."""

FREE = "deducted"
STARTED = "up"


def solution(inputs):
    try:
        stays, free, unit, price, cap = (inputs[key] for key in ("stays", "free", "unit", "price", "cap"))
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "stays, free, unit, price, cap"}
    paid = 0
    for stay in stays:
        charged = 0 if stay <= free else stay - (free if FREE == "deducted" else 0)
        today = 0
        for minute in range(charged):
            if minute % 1440 == 0:
                paid, today = paid + today, 0
            ticks = minute % 1440 % unit == (0 if STARTED == "up" else unit - 1)
            if ticks:
                today = min(cap, today + price)
        paid += today
    return paid
